// SPDX-License-Identifier: Apache-2.0
// Starts programs from a small process. A process with large models needs a tenth of a second to start another, as all
// its pages are marked first; this one needs a millisecond.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(import.meta.url);

/** Reads lines from a file while it is being written. */
class LineReader {
    #file;
    #rest = Buffer.alloc(0);

    constructor(file) {
        this.#file = file;
    }

    /** @returns the next line; null at the end. */
    next() {
        const piece = Buffer.alloc(1 << 16);
        const parts = [this.#rest];
        for (let end = this.#rest.indexOf(10); ; ) {
            if (end >= 0) {
                const last = parts.pop();
                this.#rest = last.subarray(end + 1);
                return Buffer.concat([...parts, last.subarray(0, end)]).toString();
            }
            const size = fs.readSync(this.#file, piece);
            if (size === 0) {
                return null;
            }
            parts.push(Buffer.from(piece.subarray(0, size)));
            end = parts.at(-1).indexOf(10);
        }
    }
}

let other;

function start() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "stemma-programs-"));
    const pipes = ["questions", "answers"].map((name) => path.join(folder, name));
    spawnSync("mkfifo", pipes);
    const child = spawn(process.execPath, [here, ...pipes], { stdio: ["ignore", "ignore", "inherit"] });
    child.unref();
    other = { questions: fs.openSync(pipes[0], "w"), answers: new LineReader(fs.openSync(pipes[1], "r")) };
    fs.rmSync(folder, { recursive: true });
}

/** @returns status, stdout and stderr of a finished program; `error`: why it could not start. `cwd`: where it runs. */
export function runProgram(program, words, cwd = process.cwd()) {
    if (!other) {
        start();
    }
    fs.writeSync(other.questions, `${JSON.stringify([program, words, cwd])}\n`);
    const answer = other.answers.next();
    if (answer === null) {
        throw new Error(`${program}: the process that starts programs has ended`);
    }
    return JSON.parse(answer);
}

if (process.argv[1] === here) {
    const questions = new LineReader(fs.openSync(process.argv[2], "r"));
    const answers = fs.openSync(process.argv[3], "w");
    for (let question = questions.next(); question !== null; question = questions.next()) {
        const [program, words, cwd] = JSON.parse(question);
        const { status, stdout, stderr, error, signal } = spawnSync(program, words, {
            cwd,
            encoding: "utf8",
            maxBuffer: 1 << 30,
        });
        const answer = { status, stdout, stderr, error: error?.message ?? signal ?? undefined };
        fs.writeSync(answers, `${JSON.stringify(answer)}\n`);
    }
}
