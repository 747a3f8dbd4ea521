// SPDX-License-Identifier: Apache-2.0
// Long lists: only the rows in sight exist.
const rowHeight = 26;

/** A list of any length. The element that scrolls has the focus and names the chosen row. */
class VirtualList {
  /**
   * @param {HTMLElement} element the list, with its role
   * @param {{row: (i: number) => HTMLElement, key?: (event: KeyboardEvent, i: number) => boolean, choose: (i: number) => void, byEnter?: boolean}} how byEnter: arrows only mark a row, Enter chooses it
   */
  constructor(element, how) {
    this.element = element;
    this.how = how;
    this.count = 0;
    this.chosen = -1;
    this.room = make("div", {class: "room", role: "presentation"});
    element.classList.add("virtual");
    element.replaceChildren(this.room);
    element.addEventListener("scroll", () => this.draw());
    element.addEventListener("keydown", event => this.#press(event));
    this.room.addEventListener("click", event => {
      const row = event.target instanceof Element && event.target.closest("[data-row]");
      if (row instanceof HTMLElement && !event.defaultPrevented) {
        this.choose(Number(row.dataset.row));
      }
    });
    new ResizeObserver(() => this.draw()).observe(element);
  }

  #press(event) {
    if (this.how.key?.(event, this.chosen)) {
      event.preventDefault();
      return;
    }
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 1);
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count};
    if (event.key in steps && this.count > 0) {
      event.preventDefault();
      const next = Math.min(this.count - 1, Math.max(0, this.chosen + steps[event.key]));
      this.how.byEnter ? this.mark(next) : this.choose(next);
    } else if (event.key === "Enter" && this.chosen >= 0) {
      this.choose(this.chosen);
    }
  }

  /** Sets the number of rows. */
  show(count) {
    this.count = count;
    this.room.style.height = `${count * rowHeight}px`;
    this.draw();
  }

  choose(i) {
    this.mark(i);
    this.how.choose(i);
  }

  /** Marks a row as chosen and scrolls to it. */
  mark(i) {
    this.chosen = i;
    const top = i * rowHeight;
    const {scrollTop, clientHeight} = this.element;
    if (i >= 0 && (top < scrollTop || top + rowHeight > scrollTop + clientHeight)) {
      this.element.scrollTop = top - clientHeight / 2;
    }
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - 5);
    const last = Math.min(this.count, Math.ceil((this.element.scrollTop + this.element.clientHeight) / rowHeight) + 5);
    const rows = [];
    for (let i = first; i < last; ++i) {
      const row = this.how.row(i);
      row.style.top = `${i * rowHeight}px`;
      row.dataset.row = String(i);
      row.id = `${this.element.id}-${i}`;
      row.setAttribute("aria-selected", String(i === this.chosen));
      rows.push(row);
    }
    this.room.replaceChildren(...rows);
    this.chosen >= first && this.chosen < last ? this.element.setAttribute("aria-activedescendant", `${this.element.id}-${this.chosen}`)
      : this.element.removeAttribute("aria-activedescendant");
  }
}
