// SPDX-License-Identifier: Apache-2.0
// The floor under `stemma tag --carrier metadata --threads 1`: writes the same bytes for models of
// generate_model's default shape, with code that can do nothing else. The difference in time is the
// price of handling all other models.
//
// Everything is derived from the names and the wiring in the file. The guarantees of the generator
// are relied on, and checked where that is cheap (the file is refused otherwise): the names of
// torch's exporter; parameters in the order of their modules; values written before they are read;
// operators without a scope only in bodies; no claim that contradicts a scope; no result that
// serves two modules.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;

constexpr u32 none = 0xffff'ffffU;

[[noreturn]] void refuse(const char* why) {
    throw std::runtime_error(std::string("not a model of generate_model: ") + why);
}

// ---- Time --------------------------------------------------------------------------------------

enum class phase : u8 {
    open,
    scan,
    values,
    scopes,
    tree,
    digest,
    attribution,
    propagation,
    lengths,
    record,
    output
};
constexpr std::array phase_names{"open and map",    "scan the bytes", "bind names of values",
                                 "names to scopes", "module tree",    "digest",
                                 "attribution",     "propagation",    "lengths",
                                 "record (JSON)",   "write"};

/// Adds the time since the last lap to a phase.
class stopwatch {
public:
    void lap(phase of) {
        const auto now = std::chrono::steady_clock::now();
        spent_[static_cast<std::size_t>(of)] +=
            std::chrono::duration<double, std::milli>(now - last_).count();
        last_ = now;
    }
    /// Milliseconds, by phase.
    [[nodiscard]] std::span<const double> spent() const { return spent_; }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    std::array<double, phase_names.size()> spent_{};
};

// ---- Memory ------------------------------------------------------------------------------------

/// Returns: zeros, allocated page by page on first touch; large pages where they pay off.
void* reserve(std::size_t bytes, bool large_pages) {
    void* room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        throw std::runtime_error("out of memory");
    }
    if (large_pages) {
        ::madvise(room, bytes, MADV_HUGEPAGE);
    }
    return room;
}

/// A table that never moves: it reserves a row for every 4 bytes of the file. Never freed.
template <class Row>
class column {
public:
    void prepare(std::size_t file_bytes, bool large_pages) {
        rows_ = static_cast<Row*>(reserve(file_bytes / 4 * sizeof(Row) + 4096, large_pages));
    }
    void push(Row row) { rows_[size_++] = row; }
    /// Returns: the index of the first.
    u32 append(std::basic_string_view<Row> rows) {
        std::copy(rows.begin(), rows.end(), rows_ + size_);
        return static_cast<u32>(std::exchange(size_, size_ + rows.size()));
    }
    Row& operator[](std::size_t i) { return rows_[i]; }
    const Row& operator[](std::size_t i) const { return rows_[i]; }
    [[nodiscard]] u32 size() const { return static_cast<u32>(size_); }

private:
    Row* rows_ = nullptr;
    std::size_t size_ = 0;
};

// ---- Hashes ------------------------------------------------------------------------------------

constexpr u64 key0 = 0x9e37'79b9'7f4a'7c15U;
constexpr u64 key1 = 0xbf58'476d'1ce4'e5b9U;

u64 fold(u64 a, u64 b) {
    const auto product = static_cast<u128>(a) * b;
    return static_cast<u64>(product) ^ static_cast<u64>(product >> 64U);
}

/// The mixing function of digests.
u64 mix(u64 a, u64 b) {
    return fold(a ^ key0, b ^ key1);
}

u64 load(const char* at) {
    u64 word = 0;
    std::memcpy(&word, at, 8);
    return word;
}

u32 hash_of(std::string_view text, u64 seed = 0) {
    const char* at = text.data();
    auto remaining = text.size();
    u64 h = seed ^ (remaining * key0);
    if (remaining < 16) {
        std::array<char, 16> padded{};
        std::memcpy(padded.data(), at, remaining);
        return static_cast<u32>(
            fold(load(padded.data()) ^ key1, load(padded.data() + 8) ^ h ^ key0) >> 32U);
    }
    for (; remaining > 16; at += 16, remaining -= 16) {
        h = fold(load(at) ^ key1, load(at + 8) ^ h);
    }
    at += remaining; // the last 16 bytes, which may overlap
    return static_cast<u32>(fold(load(at - 16) ^ key1, load(at - 8) ^ h ^ key0) >> 32U);
}

/// Maps texts to numbers: slots of 8 bytes, each a hash and a number, ordered by hash, so that
/// growing is one pass of copying.
class hash_table {
public:
    explicit hash_table(unsigned bits = 8) : bits_(bits), slots_(make(bits)) {}

    void prefetch(u32 hash) const { __builtin_prefetch(slots_ + (hash >> (32 - bits_))); }

    /// Reserves room for so many numbers, at a load factor of at most three quarters.
    void expect(std::size_t count) {
        auto bits = bits_;
        while (count * 4 > (std::size_t{3} << bits)) {
            ++bits;
        }
        if (bits != bits_) {
            grow(bits);
        }
    }

    /// Returns: the number that `is_same` accepts, or else `next`, which is added.
    template <class Same>
    u32 insert(u32 hash, u32 next, Same is_same) {
        if (used_ * 4 >= std::size_t{3} << bits_) {
            grow(bits_ + 1);
        }
        for (auto i = hash >> (32 - bits_);; i = (i + 1) & mask()) {
            const auto slot = slots_[i];
            if (slot == 0) {
                slots_[i] = u64{hash} << 32U | (next + 1);
                ++used_;
                return next;
            }
            if (slot >> 32U == hash && is_same(static_cast<u32>(slot) - 1)) {
                return static_cast<u32>(slot) - 1;
            }
        }
    }

    /// Returns: the number that `is_same` accepts, or `none`.
    template <class Same>
    [[nodiscard]] u32 find(u32 hash, Same is_same) const {
        for (auto i = hash >> (32 - bits_); slots_[i] != 0; i = (i + 1) & mask()) {
            if (slots_[i] >> 32U == hash && is_same(static_cast<u32>(slots_[i]) - 1)) {
                return static_cast<u32>(slots_[i]) - 1;
            }
        }
        return none;
    }

private:
    static u64* make(unsigned bits) {
        return static_cast<u64*>(reserve((std::size_t{1} << bits) * sizeof(u64), bits >= 18));
    }
    [[nodiscard]] u32 mask() const { return (u32{1} << bits_) - 1; }

    void grow(unsigned bits) {
        auto* const old = std::exchange(slots_, make(bits));
        const auto count = std::size_t{1} << std::exchange(bits_, bits);
        for (std::size_t from = 0; from < count; ++from) {
            if (old[from] != 0) {
                auto i = static_cast<u32>(old[from] >> (64 - bits_));
                while (slots_[i] != 0) {
                    i = (i + 1) & mask();
                }
                slots_[i] = old[from];
            }
        }
        ::munmap(old, count * sizeof(u64));
    }

    unsigned bits_;
    u64* slots_;
    std::size_t used_ = 0;
};

// ---- Fields ------------------------------------------------------------------------------------

/// Bytes of the file.
struct text_ref {
    u32 at = 0;
    u32 size = 0;
};

/// Iterates over the fields of a message.
class field_reader {
public:
    field_reader(const char* base, text_ref message)
        : base_(base), at_(base + message.at), end_(at_ + message.size) {}

    [[nodiscard]] bool more() const { return at_ != end_; }
    [[nodiscard]] u32 position() const { return static_cast<u32>(at_ - base_); }

    u64 varint() {
        if (at_ != end_ && static_cast<u8>(*at_) < 0x80) {
            return static_cast<u8>(*at_++);
        }
        u64 value = 0;
        for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
            const auto byte = static_cast<u8>(*at_++);
            value |= u64{byte & 0x7fU} << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        refuse("a truncated number");
    }
    /// Returns: the tag of the next field.
    u32 tag() { return static_cast<u32>(varint()); }
    /// Returns: the content of a length-delimited field.
    text_ref bytes() {
        const auto size = varint();
        if (size > static_cast<u64>(end_ - at_)) {
            refuse("a truncated field");
        }
        const text_ref content{position(), static_cast<u32>(size)};
        at_ += size;
        return content;
    }
    void skip(u32 tag) {
        (tag & 7U) == 2 ? static_cast<void>(bytes()) : static_cast<void>(varint());
    }

private:
    const char* base_;
    const char* at_;
    const char* end_;
};

constexpr u32 bytes_field(u32 number) {
    return number << 3U | 2U;
}

namespace field {
constexpr u32 model_graph = bytes_field(7), model_metadata = bytes_field(14);
constexpr u32 node = bytes_field(1), graph_name = bytes_field(2), tensor = bytes_field(5);
constexpr u32 graph_input = bytes_field(11), graph_output = bytes_field(12);
constexpr u32 input = bytes_field(1), output = bytes_field(2), name = bytes_field(3);
constexpr u32 op_type = bytes_field(4), attribute = bytes_field(5), node_metadata = bytes_field(9);
constexpr u32 body = bytes_field(6);
constexpr u32 tensor_name = bytes_field(8), tensor_metadata = bytes_field(16);
constexpr u32 info_name = bytes_field(1), info_metadata = bytes_field(4);
} // namespace field

constexpr u32 varint_size(u64 value) {
    u32 size = 1;
    for (; value >= 0x80; value >>= 7U) {
        ++size;
    }
    return size;
}

char* put_varint(char* out, u64 value) {
    for (; value >= 0x80; value >>= 7U) {
        *out++ = static_cast<char>(value | 0x80U);
    }
    *out++ = static_cast<char>(value);
    return out;
}

char* put_text(char* out, std::string_view text) {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
}

constexpr std::string_view source_key = "pkg.stemma.source_module";
constexpr std::string_view module_key = "pkg.stemma.module";
constexpr std::string_view tags_key = "pkg.stemma.hierarchy_tags";
constexpr std::string_view record_key = "pkg.stemma.model";

/// Returns: the size of a metadata entry without its own tag and length.
constexpr u32 entry_content(std::string_view key, u32 value) {
    return 2 + varint_size(key.size()) + static_cast<u32>(key.size()) + varint_size(value) + value;
}
constexpr u32 entry_size(u32 tag, std::string_view key, u32 value) {
    const auto content = entry_content(key, value);
    return varint_size(tag) + varint_size(content) + content;
}
/// Writes an entry up to its value, which is to follow and has so many bytes.
char* put_entry(char* out, u32 tag, std::string_view key, u32 value) {
    out = put_varint(put_varint(out, tag), entry_content(key, value));
    out = put_text(put_varint(put_varint(out, bytes_field(1)), key.size()), key);
    return put_varint(put_varint(out, bytes_field(2)), value);
}

// ---- The model ---------------------------------------------------------------------------------

/// Properties of an operator type.
struct operator_kind {
    text_ref type;
    u64 hash = 0;
    bool hides_data = false;
};

/// A graph in an attribute of an operator: operators [first, last).
struct body_graph {
    u32 owner = none;
    text_ref owner_message;
    u32 first = 0;
    u32 last = 0;
    text_ref result; ///< the name of its output
};

/// A scope in the names of operators, and its module.
struct scope {
    u32 parent = 0;
    text_ref segment;
    u32 module = none;
};

struct module {
    u32 parent = none;
    text_ref name;
    u32 calls = none;
    u32 end = 0;      ///< past its last descendant
    u32 selected = 0; ///< the nearest module with a tag, itself or an ancestor
    u32 last_child = none;
    u32 last_scope = none; ///< the last scope of this module
    u32 run = 0;           ///< bytes of its own part of a tag
    u32 tag = 0;           ///< bytes of its tag
    u32 path = 0;          ///< bytes of its path
    bool is_number = false;
};

/// A message about a graph input, an initializer or a graph output.
struct described_value {
    text_ref name;
    u32 size = 0; ///< of the message
    u32 value = none;
    u32 tags = none; ///< a module, or `several` and an index into `tag_lists`
};

constexpr u32 several = 0x8000'0000U; ///< a flag bit
constexpr u32 from_outside = 0x8000'0000U;

struct model {
    const char* base = nullptr;
    u32 size = 0;
    stopwatch* watch = nullptr;

    text_ref graph;
    // By operator; those of bodies precede their owner.
    column<u32> sizes;    ///< of the message
    column<u32> scope_of; ///< the scope, later the module
    column<u8> kind_of;
    column<u8> mentions; ///< the number of inputs, plus one for the result
    // By mention, operator after operator.
    column<u32> numbers; ///< of the value
    // By value, in order of first mention.
    column<text_ref> value_names;
    column<u32> makers; ///< the operator, or `from_outside` and an index into `described`
    u64 node_names = 0; ///< digest of the names of operators

    std::vector<operator_kind> kinds;
    std::vector<body_graph> bodies;
    std::vector<scope> scopes;
    std::vector<described_value> described; ///< parameters, then inputs, then results
    std::size_t parameters = 0;
    std::size_t inputs = 0;
    column<module> modules;
    column<char> names;                   ///< of modules and scopes, copied to be close together
    std::vector<std::string> tag_lists;   ///< of values with several tags
    std::vector<std::string> owner_texts; ///< the output bytes of operators with bodies
    hash_table values_by_name{12};

    [[nodiscard]] std::string_view text(text_ref ref) const { return {base + ref.at, ref.size}; }

    /// Returns: a text stored by `keep`.
    [[nodiscard]] std::string_view name(text_ref ref) const { return {&names[ref.at], ref.size}; }
    text_ref keep(std::string_view text) {
        return {names.append(text), static_cast<u32>(text.size())};
    }
};

/// Returns: the XXH64 of a text, by the xxHash specification.
u64 xxh64(std::string_view text) {
    constexpr u64 p1 = 0x9e37'79b1'85eb'ca87U;
    constexpr u64 p2 = 0xc2b2'ae3d'27d4'eb4fU;
    constexpr u64 p3 = 0x1656'67b1'9e37'79f9U;
    constexpr u64 p4 = 0x85eb'ca77'c2b2'ae63U;
    constexpr u64 p5 = 0x27d4'eb2f'1656'67c5U;
    const auto rotate = [](u64 x, unsigned by) { return x << by | x >> (64U - by); };
    const auto round = [&](u64 lane, u64 word) { return rotate(lane + word * p2, 31) * p1; };
    const char* at = text.data();
    auto remaining = text.size();
    u64 hash = p5;
    if (remaining >= 32) {
        std::array<u64, 4> lanes{p1 + p2, p2, 0, 0 - p1};
        for (; remaining >= 32; remaining -= 32) {
            for (auto& lane : lanes) {
                lane = round(lane, load(at));
                at += 8;
            }
        }
        hash =
            rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
        for (const auto lane : lanes) {
            hash = (hash ^ round(0, lane)) * p1 + p4;
        }
    }
    hash += text.size();
    for (; remaining >= 8; at += 8, remaining -= 8) {
        hash = rotate(hash ^ round(0, load(at)), 27) * p1 + p4;
    }
    if (remaining >= 4) {
        u32 word = 0;
        std::memcpy(&word, at, 4);
        hash = rotate(hash ^ (word * p1), 23) * p2 + p3;
        at += 4;
        remaining -= 4;
    }
    for (; remaining > 0; ++at, --remaining) {
        hash = rotate(hash ^ (static_cast<u8>(*at) * p5), 11) * p1;
    }
    hash = (hash ^ hash >> 33U) * p2;
    hash = (hash ^ hash >> 29U) * p3;
    return hash ^ hash >> 32U;
}

// ---- Scan --------------------------------------------------------------------------------------

constexpr std::size_t most_inputs = 8;

struct scanned_node {
    std::array<text_ref, most_inputs> inputs;
    std::size_t input_count = 0;
    text_ref result, name, type;
    std::array<text_ref, 2> bodies;
    std::size_t body_count = 0;
};

/// Reads operators, binding their names in batches while the bytes are in the cache.
class scanner {
public:
    explicit scanner(model& m) : m_(m) {
        // The root; operators directly in it have the scope "".
        m_.scopes.push_back({0, {}, 0});
        levels_.push_back({0, 0});
    }

    void run() {
        field_reader fields(m_.base, {0, m_.size});
        while (fields.more()) {
            const auto tag = fields.tag();
            if (tag == field::model_graph) {
                m_.graph = fields.bytes();
                scan_graph();
            } else if (tag == field::model_metadata) {
                refuse("it has metadata");
            } else {
                fields.skip(tag);
            }
        }
    }

private:
    static constexpr std::size_t chunk = 1024;
    static constexpr u32 is_result = 0x8000'0000U;

    struct name_and_type {
        text_ref name, type;
    };
    struct level {
        u32 end = 0; // of its segment, from the start of the scope
        u32 scope = 0;
    };

    void scan_graph() {
        std::vector<described_value> infos;
        field_reader fields(m_.base, m_.graph);
        while (fields.more()) {
            const auto tag = fields.tag();
            if (tag == field::node) {
                scan_node(fields.bytes());
                if (nodes_.size() >= chunk) {
                    expect_values(fields.position());
                    bind_chunk();
                }
            } else if (tag == field::tensor) {
                const auto message = fields.bytes();
                m_.described.push_back({find_name(message, field::tensor_name), message.size});
            } else if (tag == field::graph_name) {
                fields.skip(tag);
            } else if (tag == field::graph_input || tag == field::graph_output) {
                const auto message = fields.bytes();
                infos.push_back({find_name(message, field::info_name), message.size});
                m_.inputs += tag == field::graph_input ? 1U : 0U;
            } else {
                refuse("a field of the graph");
            }
        }
        m_.watch->lap(phase::scan);
        bind_chunk();
        m_.parameters = m_.described.size();
        m_.described.insert(m_.described.end(), infos.begin(), infos.end());
    }

    /// Reserves room for all names of the graph, extrapolating from what was read up to `at`:
    /// weights mostly follow all operators, so not for many more than there are.
    void expect_values(u32 at) {
        const auto so_far = m_.value_names.size() + mentioned_.size();
        const auto all = u64{so_far} * m_.graph.size / (at - m_.graph.at);
        m_.values_by_name.expect(std::min<u64>(all, u64{so_far} * 8));
    }

    text_ref find_name(text_ref message, u32 name_tag) const {
        field_reader fields(m_.base, message);
        while (fields.more()) {
            const auto tag = fields.tag();
            if (tag == name_tag) {
                return fields.bytes();
            }
            fields.skip(tag);
        }
        refuse("an empty name");
    }

    void scan_node(text_ref message) {
        scanned_node node;
        field_reader fields(m_.base, message);
        while (fields.more()) {
            switch (fields.tag()) {
            case field::input:
                if (node.input_count == most_inputs) {
                    refuse("too many inputs");
                }
                node.inputs[node.input_count++] = fields.bytes();
                break;
            case field::output:
                node.result = fields.bytes();
                break;
            case field::name:
                node.name = fields.bytes();
                break;
            case field::op_type:
                node.type = fields.bytes();
                break;
            case field::attribute:
                look_for_body(fields.bytes(), node);
                break;
            default:
                refuse("a field of an operator");
            }
        }
        const auto first_body = m_.bodies.size();
        for (std::size_t i = 0; i < node.body_count; ++i) {
            scan_body(node.bodies[i]);
        }
        for (auto b = first_body; b < m_.bodies.size(); ++b) {
            m_.bodies[b].owner = m_.sizes.size();
            m_.bodies[b].owner_message = message;
        }
        add_node(message.size, node);
    }

    void look_for_body(text_ref attribute, scanned_node& node) const {
        field_reader fields(m_.base, attribute);
        while (fields.more()) {
            const auto tag = fields.tag();
            if (tag == field::body) {
                if (node.body_count == node.bodies.size()) {
                    refuse("too many bodies");
                }
                node.bodies[node.body_count++] = fields.bytes();
            } else {
                fields.skip(tag);
            }
        }
    }

    void scan_body(text_ref graph) {
        body_graph body;
        body.first = m_.sizes.size();
        field_reader fields(m_.base, graph);
        while (fields.more()) {
            const auto tag = fields.tag();
            const auto content = fields.bytes();
            if (tag == field::node) {
                scan_node(content);
            } else if (tag == field::graph_output) {
                body.result = find_name(content, field::info_name);
            } else if (tag != field::graph_name) {
                refuse("a field of a body");
            }
        }
        body.last = m_.sizes.size();
        if (body.last != body.first + 1) {
            refuse("a body with several operators");
        }
        m_.bodies.push_back(body);
    }

    void add_node(u32 size, const scanned_node& node) {
        for (const auto input : std::span(node.inputs).first(node.input_count)) {
            mentioned_.push_back(input);
        }
        mentioned_.push_back({node.result.at, node.result.size | is_result});
        nodes_.push_back({node.name, node.type});
        m_.sizes.push(size);
        m_.mentions.push(static_cast<u8>(node.input_count + 1));
        m_.kind_of.push(find_kind(node.type));
    }

    u8 find_kind(text_ref type) {
        const auto name = m_.text(type);
        if (name.empty()) {
            refuse("an operator without a type");
        }
        for (auto i = (name.size() * 31U + static_cast<u8>(name.front()) +
                       static_cast<u8>(name.back()) * 7U) %
                      kinds_.size();
             ; i = (i + 1) % kinds_.size()) {
            if (kinds_[i] == 0xff) {
                kinds_[i] = add_kind(type);
            }
            if (m_.text(m_.kinds[kinds_[i]].type) == name) {
                return kinds_[i];
            }
        }
    }

    u8 add_kind(text_ref type) {
        u64 hash = (0xcbf2'9ce4'8422'2325U ^ 0xffU) * 0x100'0000'01b3U; // no domain
        for (const char c : m_.text(type)) {
            hash = (hash ^ static_cast<u8>(c)) * 0x100'0000'01b3U;
        }
        hash = (hash ^ 0xffU) * 0x100'0000'01b3U;
        if (m_.kinds.size() == kinds_.size() / 2) {
            refuse("too many types");
        }
        const auto name = m_.text(type);
        m_.kinds.push_back({type, hash, name == "Shape" || name == "Size"});
        return static_cast<u8>(m_.kinds.size() - 1);
    }

    void bind_chunk() {
        m_.watch->lap(phase::scan);
        bind_values();
        m_.watch->lap(phase::values);
        for (const auto& node : nodes_) {
            m_.node_names = mix(m_.node_names, xxh64(m_.text(node.name)));
        }
        m_.watch->lap(phase::digest);
        for (const auto& node : nodes_) {
            m_.scope_of.push(find_scope(node));
        }
        nodes_.clear();
        m_.watch->lap(phase::scopes);
    }

    /// Numbers the values mentioned. Hashes are computed a batch ahead of the lookups, so that
    /// the slots are prefetched together.
    void bind_values() {
        constexpr std::size_t batch = 64;
        std::array<u32, batch> hashes{};
        for (std::size_t first = 0; first < mentioned_.size(); first += batch) {
            const auto some = std::span(mentioned_)
                                  .subspan(first)
                                  .first(std::min(batch, mentioned_.size() - first));
            for (std::size_t i = 0; i < some.size(); ++i) {
                hashes[i] = hash_of(m_.text({some[i].at, some[i].size & ~is_result}));
                m_.values_by_name.prefetch(hashes[i]);
            }
            for (std::size_t i = 0; i < some.size(); ++i) {
                bind_value(some[i], hashes[i]);
            }
        }
        mentioned_.clear();
    }

    void bind_value(text_ref mention, u32 hash) {
        const bool result = (mention.size & is_result) != 0;
        const text_ref name{mention.at, mention.size & ~is_result};
        const auto next = m_.value_names.size();
        const auto number = m_.values_by_name.insert(
            hash, next, [&](u32 other) { return m_.text(m_.value_names[other]) == m_.text(name); });
        if (number == next) {
            m_.value_names.push(name);
            m_.makers.push(result ? next_maker_ : from_outside);
        } else if (result) {
            refuse("a result that was already read or written");
        }
        next_maker_ += result ? 1U : 0U;
        m_.numbers.push(number);
    }

    /// Returns: the scope in `/scope/Type_number`; `none` for any other name.
    u32 find_scope(const name_and_type& node) {
        const auto name = m_.text(node.name);
        const auto type = m_.text(node.type);
        auto end = name.size();
        while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') {
            --end;
        }
        if (end == name.size() || end < type.size() + 2 || name[end - 1] != '_') {
            return none;
        }
        const auto slash = end - type.size() - 2;
        if (name[slash] != '/' || name.front() != '/' ||
            name.substr(slash + 1, type.size()) != type) {
            return none;
        }
        return slash == 0 ? 0 : follow({node.name.at + 1, static_cast<u32>(slash) - 1});
    }

    /// Returns: the scope of that name; new unless it is an ancestor of the previous one.
    u32 follow(text_ref name) {
        const char* const at = m_.base + name.at;
        const char* const before = m_.base + previous_.at;
        const auto both = std::min(name.size, previous_.size);
        u32 shared = 0;
        while (shared + 8 <= both && load(at + shared) == load(before + shared)) {
            shared += 8;
        }
        while (shared < both && at[shared] == before[shared]) {
            ++shared;
        }
        const auto ends_here = [&](u32 end) {
            return end <= shared && (end == name.size || at[end] == '/') &&
                   (end == previous_.size || before[end] == '/');
        };
        while (levels_.size() > 1 && !ends_here(levels_.back().end)) {
            levels_.pop_back();
        }
        while (levels_.back().end < name.size) {
            const auto begin = levels_.back().end + (levels_.size() > 1 ? 1U : 0U);
            const auto* const slash =
                static_cast<const char*>(std::memchr(at + begin, '/', name.size - begin));
            const auto end = slash == nullptr ? name.size : static_cast<u32>(slash - at);
            const auto next = static_cast<u32>(m_.scopes.size());
            m_.scopes.push_back(
                {levels_.back().scope, m_.keep({at + begin, std::size_t{end} - begin})});
            levels_.push_back({end, next});
        }
        previous_ = name;
        return levels_.back().scope;
    }

    static constexpr std::array<u8, 64> no_kinds() {
        std::array<u8, 64> empty{};
        empty.fill(0xff);
        return empty;
    }

    model& m_;
    std::vector<text_ref> mentioned_; // names of values that are not bound yet
    std::vector<name_and_type> nodes_;
    std::array<u8, 64> kinds_ = no_kinds();
    std::vector<level> levels_;
    text_ref previous_;
    u32 next_maker_ = 0;
};

/// Binds the names of parameters, inputs and results, which follow all operators.
void bind_described(model& m) {
    constexpr std::size_t batch = 64;
    std::array<u32, batch> hashes{};
    for (std::size_t first = 0; first < m.described.size(); first += batch) {
        const auto count = std::min(batch, m.described.size() - first);
        for (std::size_t i = 0; i < count; ++i) {
            hashes[i] = hash_of(m.text(m.described[first + i].name));
            m.values_by_name.prefetch(hashes[i]);
        }
        for (std::size_t i = 0; i < count; ++i) {
            auto& info = m.described[first + i];
            info.value = m.values_by_name.find(hashes[i], [&](u32 value) {
                return m.text(m.value_names[value]) == m.text(info.name);
            });
            if (info.value == none) {
                if (first + i < m.parameters || first + i >= m.parameters + m.inputs) {
                    refuse("a value without reader or producer");
                }
                info.tags = 0; // an unread input belongs to the root
                continue;
            }
            auto& maker = m.makers[info.value];
            if (first + i < m.parameters + m.inputs) {
                if (maker != from_outside) {
                    refuse("a value with two producers");
                }
                maker |= static_cast<u32>(first + i) + 1;
            } else if (maker >= from_outside) {
                refuse("a result without producer");
            }
        }
    }
}

// ---- The tree ----------------------------------------------------------------------------------

/// Builds the modules, numbered in preorder, from the names of parameters and the scopes.
class tree_maker {
public:
    explicit tree_maker(model& m) : m_(m) {
        module root;
        root.name = m.keep("model"); // in tags; it has no class
        root.calls = 1;
        m_.modules.push(root);
    }

    void run() {
        for (std::size_t p = 0; p < m_.parameters; ++p) {
            add_owner(m_.described[p].name);
        }
        named_ = m_.modules.size();
        for (std::size_t s = 1; s < m_.scopes.size(); ++s) {
            bind(static_cast<u32>(s));
        }
        finish();
    }

private:
    [[nodiscard]] u32 child_hash(u32 parent, std::string_view name) const {
        return hash_of(name, (u64{parent} + 1) * key1);
    }
    [[nodiscard]] auto same_child(u32 parent, std::string_view name) const {
        return [this, parent, name](u32 other) {
            return m_.modules[other].parent == parent && m_.name(m_.modules[other].name) == name;
        };
    }
    [[nodiscard]] u32 find_child(u32 parent, std::string_view name) const {
        return children_.find(child_hash(parent, name), same_child(parent, name));
    }

    u32 child(u32 parent, std::string_view text) {
        const auto next = m_.modules.size();
        const auto place =
            children_.insert(child_hash(parent, text), next, same_child(parent, text));
        if (place != next) {
            return place;
        }
        // In preorder a module follows its parent, or the subtree of an older sibling.
        auto above = next - 1;
        while (above != parent) {
            above = m_.modules[above].parent;
            if (above == none) {
                refuse("modules out of order");
            }
        }
        module added;
        added.parent = parent;
        added.name = m_.keep(text);
        added.is_number =
            std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
        auto& last = m_.modules[parent].last_child;
        const auto before = last == none ? std::string_view() : m_.name(m_.modules[last].name);
        if (added.is_number && std::pair(before.size(), before) > std::pair(text.size(), text)) {
            refuse("a list out of order");
        }
        last = next;
        m_.modules.push(added);
        return next;
    }

    /// Adds the modules in the path of a parameter.
    void add_owner(text_ref name) {
        const auto text = m_.text(name);
        const auto end = text.rfind('.');
        if (end == text.npos) {
            return;
        }
        const auto path = text.substr(0, end);
        if (path == previous_) {
            return;
        }
        // Down to where the path diverges from the previous one.
        std::size_t shared = 0;
        while (shared < trail_.size() && trail_[shared].first <= path.size() &&
               (trail_[shared].first == path.size() || path[trail_[shared].first] == '.') &&
               path.substr(0, trail_[shared].first) == previous_.substr(0, trail_[shared].first)) {
            ++shared;
        }
        trail_.resize(shared);
        while (trail_.empty() || trail_.back().first < path.size()) {
            const auto begin = trail_.empty() ? 0 : trail_.back().first + 1;
            const auto stop = std::min(path.find('.', begin), path.size());
            const auto parent = trail_.empty() ? 0 : trail_.back().second;
            trail_.emplace_back(stop, child(parent, path.substr(begin, stop - begin)));
        }
        previous_ = path;
    }

    /// Finds or creates the module of a scope.
    void bind(u32 s) {
        auto& scope = m_.scopes[s];
        const auto around = m_.scopes[scope.parent].module;
        const auto segment = m_.name(scope.segment);
        auto at = around;
        for (std::size_t begin = 0; begin < segment.size();) {
            const auto end = std::min(segment.find('.', begin), segment.size());
            const auto name = segment.substr(begin, end - begin);
            auto next = find_child(at, name);
            next = next == none && end == segment.size() ? find_repeated(at, name) : next;
            next = next == none ? child(at, name) : next;
            // A module known only from scopes precedes those used after it.
            if (next < named_ && m_.modules[next].last_scope == none &&
                m_.modules[at].last_child >= named_) {
                refuse("siblings out of order");
            }
            if (at != around && m_.modules[at].calls == none) {
                m_.modules[at].calls = 0;
            }
            at = next;
            begin = end + 1;
        }
        scope.module = at;
        auto& module = m_.modules[at];
        const bool called = module.last_scope != none &&
                            m_.name(m_.scopes[module.last_scope].segment) == segment &&
                            m_.scopes[m_.scopes[module.last_scope].parent].module == around;
        if (!called) {
            module.calls = module.calls == none ? 1 : module.calls + 1;
            module.last_scope = s;
        }
    }

    /// Returns: the module `pooler` for `pooler_1`, if that ran.
    [[nodiscard]] u32 find_repeated(u32 parent, std::string_view name) const {
        auto end = name.size();
        while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') {
            --end;
        }
        if (end == name.size() || end < 2 || name[end - 1] != '_') {
            return none;
        }
        const auto original = find_child(parent, name.substr(0, end - 1));
        return original == none || m_.modules[original].last_scope == none ? none : original;
    }

    /// Computes what needs the whole tree: subtrees, the modules with tags, and their lengths.
    void finish() {
        const auto count = m_.modules.size();
        for (u32 i = 0; i < count; ++i) {
            auto& module = m_.modules[i];
            module.end = i + 1;
            module.selected = i;
            if (i == 0) {
                module.tag = 1 + module.name.size;
                continue;
            }
            const auto& parent = m_.modules[module.parent];
            // Classes are unknown, so a module that never ran counts as a container without a tag.
            const bool is_selected = module.calls != 0;
            const bool below_list = parent.selected != module.parent;
            if ((below_list && !module.is_number) || (!is_selected && below_list)) {
                refuse("a container that is not a list");
            }
            const bool runs_on = module.is_number && module.parent != 0;
            module.run = module.name.size + (runs_on ? parent.run + 1 : 0);
            module.path = module.name.size + (module.parent == 0 ? 0 : parent.path + 1);
            module.selected = is_selected ? i : parent.selected;
            module.tag = parent.tag + (is_selected ? module.run + 1 : 0);
        }
        for (auto i = count; i-- > 1;) {
            auto& above = m_.modules[m_.modules[i].parent];
            above.end = std::max(above.end, m_.modules[i].end);
        }
    }

    model& m_;
    hash_table children_{10};
    u32 named_ = 0; // modules with parameters at or below them
    std::string_view previous_;
    std::vector<std::pair<std::size_t, u32>> trail_; // ends of its names, and modules
};

/// Writes the tag of a selected module so that it ends at `end`.
void put_tag_before(char* end, const model& m, u32 i) {
    for (;;) {
        const auto above = i == 0 ? none : m.modules[m.modules[i].parent].selected;
        for (;;) {
            const auto& part = m.modules[i];
            end -= part.name.size;
            std::memcpy(end, &m.names[part.name.at], part.name.size);
            if (!part.is_number || part.parent == 0 || i == 0) {
                break;
            }
            *--end = '.';
            i = part.parent;
        }
        *--end = '/';
        if (above == none) {
            return;
        }
        i = above;
    }
}

char* put_tag(char* out, const model& m, u32 module) {
    module = m.modules[module].selected;
    out += m.modules[module].tag;
    put_tag_before(out, m, module);
    return out;
}

char* put_path(char* out, const model& m, u32 i) {
    char* const end = out + m.modules[i].path;
    for (char* at = end; i != 0; i = m.modules[i].parent) {
        const auto name = m.modules[i].name;
        at -= name.size;
        std::memcpy(at, &m.names[name.at], name.size);
        if (m.modules[i].parent != 0) {
            *--at = '.';
        }
    }
    return end;
}

// ---- Digest ------------------------------------------------------------------------------------

struct digests {
    u64 structure = 0; ///< of operators and wiring
    u64 names = 0;     ///< of results
};

/// Values and graphs are already numbered by first mention.
digests digests_of(const model& m) {
    u64 digest = m.sizes.size();
    u64 names = 0;
    std::size_t mention = 0;
    u32 node = 0;
    const auto digest_until = [&](u32 last, u32 graph) {
        for (; node < last; ++node) {
            digest = mix(digest ^ m.kinds[m.kind_of[node]].hash, graph);
            for (u32 i = m.mentions[node]; i > 0; --i) {
                digest = mix(digest, m.numbers[mention++]);
            }
            names = mix(names, xxh64(m.text(m.value_names[m.numbers[mention - 1]])));
        }
    };
    for (u32 b = 0; b < m.bodies.size(); ++b) {
        digest_until(m.bodies[b].first, 0);
        digest_until(m.bodies[b].last, b + 1);
    }
    digest_until(m.sizes.size(), 0);
    for (const auto& body : m.bodies) {
        const auto value = m.values_by_name.find(hash_of(m.text(body.result)), [&](u32 other) {
            return m.text(m.value_names[other]) == m.text(body.result);
        });
        if (value == none || m.makers[value] != body.first) {
            refuse("a body whose output is not its operator's");
        }
        digest = mix(digest, value);
    }
    return {digest, names};
}

// ---- Attribution -------------------------------------------------------------------------------

/// Assigns every operator and value to its modules.
class attributer {
public:
    explicit attributer(model& m) : m_(m), steady_(m.sizes.size()) {}

    /// Gives every operator the module of its scope, and records the readers of `described`.
    void attribute() {
        // One without a scope is the only operator of a body, read by the owner alone.
        for (const auto& body : m_.bodies) {
            if (m_.scope_of[body.first] != none) {
                refuse("a body with a scope");
            }
            m_.scope_of[body.first] = m_.scope_of[body.owner];
        }
        std::size_t mention = 0;
        for (u32 node = 0; node < m_.sizes.size(); ++node) {
            const auto last = mention + m_.mentions[node] - 1;
            attribute_node(node, mention, last);
            mention = last + 1;
        }
    }

    /// Gives inputs and parameters the tags of their readers, and results those of their producers.
    void propagate() {
        unite_readers();
        for (auto i = m_.parameters + m_.inputs; i < m_.described.size(); ++i) {
            m_.described[i].tags = selected(m_.scope_of[m_.makers[m_.described[i].value]]);
        }
    }

private:
    struct further_reader {
        u32 described = 0;
        u32 module = 0;
    };

    [[nodiscard]] u32 selected(u32 module) const { return m_.modules[module].selected; }

    void attribute_node(u32 node, std::size_t mention, std::size_t last) {
        const auto scope = m_.scope_of[node];
        if (scope == none) {
            refuse("an operator without a scope");
        }
        const auto module = m_.scopes[scope].module;
        bool steady = true; // the same for all inputs of the same shapes
        // Only a constant's own module, its ancestors and its descendants may read it.
        for (; mention < last; ++mention) {
            const auto maker = m_.makers[m_.numbers[mention]];
            if (maker >= from_outside) {
                const auto place = (maker & ~from_outside) - 1;
                note_reader(place, selected(module));
                steady = steady && place < m_.parameters;
            } else {
                steady = steady && steady_[maker] != 0;
                if (steady_[maker] != 0 && m_.scope_of[maker] != module) {
                    check_related(m_.scope_of[maker], module);
                }
            }
        }
        steady_[node] = steady || m_.kinds[m_.kind_of[node]].hides_data ? 1 : 0;
        m_.scope_of[node] = module;
    }

    void check_related(u32 a, u32 b) const {
        if (std::max(a, b) >= m_.modules[std::min(a, b)].end) {
            refuse("a constant of several modules");
        }
    }

    void note_reader(u32 described, u32 module) {
        auto& first = m_.described[described].tags;
        if (first == none) {
            first = module;
        } else if (first != module) {
            further_.push_back({described, module});
        }
    }

    /// A value read by several modules has all their tags; above `most_tags`, that of their common
    /// ancestor.
    void unite_readers() {
        constexpr std::size_t most_tags = 64;
        std::sort(further_.begin(), further_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.described, a.module) < std::pair(b.described, b.module);
        });
        std::vector<u32> tags;
        for (std::size_t i = 0; i < further_.size();) {
            auto& value = m_.described[further_[i].described];
            tags.assign(1, value.tags);
            for (const auto here = further_[i].described;
                 i < further_.size() && further_[i].described == here; ++i) {
                tags.push_back(further_[i].module);
            }
            std::sort(tags.begin(), tags.end());
            tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
            if (tags.size() > most_tags) {
                auto common = tags.front();
                while (m_.modules[common].end <= tags.back()) {
                    common = m_.modules[common].parent;
                }
                value.tags = selected(common);
            } else {
                value.tags = several | static_cast<u32>(m_.tag_lists.size());
                m_.tag_lists.push_back(spell(tags));
            }
        }
    }

    [[nodiscard]] std::string spell(std::span<const u32> tags) const {
        std::string list;
        for (const auto module : tags) {
            list.append(list.empty() ? "[\"" : "\", \"");
            list.resize(list.size() + m_.modules[module].tag);
            put_tag_before(list.data() + list.size(), m_, module);
        }
        return list.append("\"]");
    }

    model& m_;
    std::vector<u8> steady_;
    std::vector<further_reader> further_;
};

// ---- Lengths -----------------------------------------------------------------------------------

/// Returns: the bytes added to an operator of this module.
u32 added_to_node(const model& m, u32 module) {
    return entry_size(field::node_metadata, source_key, m.modules[m.modules[module].selected].tag) +
           entry_size(field::node_metadata, module_key, m.modules[module].path);
}

char* put_node_entries(char* out, const model& m, u32 module) {
    const auto tag = m.modules[m.modules[module].selected].tag;
    out = put_tag(put_entry(out, field::node_metadata, source_key, tag), m, module);
    return put_path(put_entry(out, field::node_metadata, module_key, m.modules[module].path), m,
                    module);
}

/// Returns: the size of a value's list of tags.
u32 list_size(const model& m, u32 tags) {
    return (tags & several) != 0 ? static_cast<u32>(m.tag_lists[tags & ~several].size())
                                 : m.modules[tags].tag + 4;
}

char* put_list(char* out, const model& m, u32 tags) {
    if ((tags & several) != 0) {
        return put_text(out, m.tag_lists[tags & ~several]);
    }
    return put_text(put_tag(put_text(out, "[\""), m, tags), "\"]");
}

/// Returns: the growth of a message of `size` bytes that gets `added`, including its length.
u32 growth(u32 size, u32 added) {
    return added + varint_size(u64{size} + added) - varint_size(size);
}

/// Makes the output bytes of operators with bodies, from the inside out.
class owner_speller {
public:
    explicit owner_speller(const model& m) : m_(m) {}

    /// Returns: the content of an operator's message. Its bodies have the same module.
    std::string spell(text_ref message, u32 module) {
        module_ = module;
        return spell_message(message, field::attribute,
                             [&](text_ref attribute) {
                                 return spell_message(attribute, field::body, [&](text_ref graph) {
                                     return spell_graph(graph);
                                 });
                             }) +
               node_entries();
    }

private:
    /// Copies a message, replacing the fields of a tag by `respell(content)`.
    template <class Respell>
    std::string spell_message(text_ref message, u32 respelled, Respell respell) const {
        std::string out;
        field_reader fields(m_.base, message);
        while (fields.more()) {
            const auto begin = fields.position();
            const auto tag = fields.tag();
            if (tag == respelled) {
                append(out, tag, respell(fields.bytes()));
            } else {
                fields.skip(tag);
                out.append(m_.text({begin, fields.position() - begin}));
            }
        }
        return out;
    }

    std::string spell_graph(text_ref graph) const {
        std::string out;
        field_reader fields(m_.base, graph);
        while (fields.more()) {
            const auto tag = fields.tag();
            std::string content(m_.text(fields.bytes()));
            if (tag == field::node) {
                content += node_entries();
            } else if (tag == field::graph_output) {
                const auto tags = m_.modules[module_].selected;
                std::string entry(entry_size(field::info_metadata, tags_key, list_size(m_, tags)),
                                  '\0');
                put_list(
                    put_entry(entry.data(), field::info_metadata, tags_key, list_size(m_, tags)),
                    m_, tags);
                content += entry;
            }
            append(out, tag, content);
        }
        return out;
    }

    [[nodiscard]] std::string node_entries() const {
        std::string entries(added_to_node(m_, module_), '\0');
        put_node_entries(entries.data(), m_, module_);
        return entries;
    }

    static void append(std::string& out, u32 tag, std::string_view content) {
        std::array<char, 20> front{};
        char* const end = put_varint(put_varint(front.data(), tag), content.size());
        out.append(front.data(), end).append(content);
    }

    const model& m_;
    u32 module_ = 0;
};

/// Writes the operators with bodies. Returns: the size of the graph with all tags.
u64 measure_graph(model& m) {
    u64 size = m.graph.size;
    owner_speller speller(m);
    u32 node = 0;
    const auto measure_until = [&](u32 last) {
        for (; node < last; ++node) {
            size += growth(m.sizes[node], added_to_node(m, m.scope_of[node]));
        }
    };
    for (std::size_t b = 0; b < m.bodies.size(); ++b) {
        const auto owner = m.bodies[b].owner;
        if (b == 0 || owner != m.bodies[b - 1].owner) {
            measure_until(m.bodies[b].first);
            const auto& text = m.owner_texts.emplace_back(
                speller.spell(m.bodies[b].owner_message, m.scope_of[owner]));
            const auto added = static_cast<u32>(text.size()) - m.sizes[owner];
            size += growth(m.sizes[owner], added);
            node = owner + 1;
        }
    }
    measure_until(m.sizes.size());
    for (std::size_t i = 0; i < m.described.size(); ++i) {
        const auto& info = m.described[i];
        const auto tag = i < m.parameters ? field::tensor_metadata : field::info_metadata;
        size += growth(info.size, entry_size(tag, tags_key, list_size(m, info.tags)));
    }
    return size;
}

// ---- Record ------------------------------------------------------------------------------------

/// Returns: the model record, one line of JSON. Requires: names need no escapes.
std::string_view spell_record(const model& m, digests of) {
    constexpr std::size_t beside_name = 64;
    const auto most = 1024 + m.modules.size() * beside_name + m.names.size();
    auto* const begin = static_cast<char*>(reserve(most, false));
    char* out = put_text(begin, R"({"schema": "stemma.model/1", "carriers": ["metadata"], )");
    out = put_text(out, R"("options": {}, "nodes": )");
    out = put_text(std::to_chars(out, out + 10, m.sizes.size()).ptr, R"(, "digest": ")");
    const auto put_digest = [&](u64 digest) {
        for (unsigned shift = 64; shift > 0; shift -= 4) {
            *out++ = "0123456789abcdef"[digest >> (shift - 4) & 15U];
        }
    };
    put_digest(of.structure);
    out = put_text(out, R"(", "names": ")");
    put_digest(of.names);
    out = put_text(out, R"(", "node_names": ")");
    put_digest(m.node_names);
    out = put_text(out, R"(", "from_model": true, "classes": [""], "modules": [)");
    for (u32 i = 0; i < m.modules.size(); ++i) {
        const auto& module = m.modules[i];
        out = put_text(out, i == 0 ? "[null" : ", [");
        out = i == 0 ? out : std::to_chars(out, out + 10, module.parent).ptr;
        out = put_text(out, ", \"");
        out = i == 0 ? out : put_text(out, m.name(module.name));
        out = put_text(out, "\", null, null, ");
        out = module.calls == none ? put_text(out, "null")
                                   : std::to_chars(out, out + 10, module.calls).ptr;
        *out++ = ']';
    }
    out = put_text(out, R"(], "aliases": [], "shared_parameters": []})");
    return {begin, static_cast<std::size_t>(out - begin)};
}

// ---- Output ------------------------------------------------------------------------------------

/// Writes to a file through a buffer that stays in the cache.
class output {
public:
    explicit output(const char* path)
        : to_(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
        if (to_ < 0) {
            throw std::runtime_error(std::string(path) + ": cannot write");
        }
    }

    /// Preallocates so many bytes, which is faster than growing the file.
    void expect(u64 size) const {
        static_cast<void>(::fallocate(to_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)));
    }

    /// Returns: room for a few bytes past those written; `filled` sets their end.
    char* room(std::size_t size) {
        if (used_ + size > buffer_size) {
            flush();
        }
        return buffer_.data() + used_;
    }
    void filled(const char* end) { used_ = static_cast<std::size_t>(end - buffer_.data()); }

    void write(std::string_view bytes) {
        if (bytes.size() > buffer_size / 2) {
            flush();
            write_now(bytes);
        } else {
            filled(put_text(room(bytes.size()), bytes));
        }
    }

    void flush() {
        write_now({buffer_.data(), used_});
        used_ = 0;
    }

private:
    static constexpr std::size_t buffer_size = std::size_t{1} << 18U;

    void write_now(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto done = ::write(to_, bytes.data(), bytes.size());
            if (done <= 0) {
                throw std::runtime_error("cannot write the output");
            }
            bytes.remove_prefix(static_cast<std::size_t>(done));
        }
    }

    int to_;
    std::size_t used_ = 0;
    std::vector<char> buffer_ = std::vector<char>(buffer_size);
};

/// The entries of recent modules: a model returns to the same few.
class recent_entries {
public:
    explicit recent_entries(const model& m) : m_(m), kept_(count) {}

    std::string_view of(u32 module) {
        auto& entry = kept_[module % count];
        if (entry.module != module) {
            if (added_to_node(m_, module) > entry.text.size()) {
                refuse("too long names");
            }
            entry.module = module;
            entry.size = static_cast<u32>(put_node_entries(entry.text.data(), m_, module) -
                                          entry.text.data());
        }
        return {entry.text.data(), entry.size};
    }

private:
    static constexpr std::size_t count = 64;

    struct kept {
        u32 module = none;
        u32 size = 0;
        std::array<char, 1016> text;
    };

    const model& m_;
    std::vector<kept> kept_;
};

class model_writer {
public:
    model_writer(const model& m, output& out) : m_(m), out_(out), entries_(m) {}

    void run(u64 graph_size, std::string_view record) {
        field_reader fields(m_.base, {0, m_.size});
        while (fields.more()) {
            const auto begin = fields.position();
            const auto tag = fields.tag();
            fields.skip(tag);
            if (tag == field::model_graph) {
                begin_message(tag, graph_size);
                write_graph();
            } else {
                out_.write(m_.text({begin, fields.position() - begin}));
            }
        }
        char* at = out_.room(100);
        at = put_entry(at, field::model_metadata, record_key, static_cast<u32>(record.size()));
        out_.filled(at);
        out_.write(record);
        out_.flush();
    }

private:
    void begin_message(u32 tag, u64 size) {
        out_.filled(put_varint(put_varint(out_.room(20), tag), size));
    }

    void write_graph() {
        std::size_t parameter = 0;
        auto info = m_.parameters;
        field_reader fields(m_.base, m_.graph);
        while (fields.more()) {
            const auto tag = fields.tag();
            const auto content = fields.bytes();
            if (tag == field::node) {
                write_node(content);
            } else if (tag == field::tensor) {
                write_described(tag, content, field::tensor_metadata,
                                m_.described[parameter++].tags);
            } else if (tag == field::graph_name) {
                begin_message(tag, content.size);
                out_.write(m_.text(content));
            } else {
                write_described(tag, content, field::info_metadata, m_.described[info++].tags);
            }
        }
    }

    void write_node(text_ref content) {
        if (body_ < m_.bodies.size() && m_.bodies[body_].first == node_) {
            node_ = m_.bodies[body_].owner + 1;
            for (; body_ < m_.bodies.size() && m_.bodies[body_].owner == node_ - 1; ++body_) {
            }
            const auto& text = m_.owner_texts[owner_++];
            begin_message(field::node, text.size());
            out_.write(text);
            return;
        }
        const auto entries = entries_.of(m_.scope_of[node_++]);
        const auto size = content.size + entries.size();
        if (size > 65536) {
            refuse("a too large operator");
        }
        char* at = out_.room(size + 20);
        at = put_varint(put_varint(at, field::node), size);
        at = put_text(put_text(at, m_.text(content)), entries);
        out_.filled(at);
    }

    void write_described(u32 tag, text_ref content, u32 metadata, u32 tags) {
        const auto list = list_size(m_, tags);
        begin_message(tag, content.size + entry_size(metadata, tags_key, list));
        out_.write(m_.text(content));
        char* at = out_.room(list + 100);
        out_.filled(put_list(put_entry(at, metadata, tags_key, list), m_, tags));
    }

    const model& m_;
    output& out_;
    recent_entries entries_;
    u32 node_ = 0;
    std::size_t body_ = 0;
    std::size_t owner_ = 0;
};

// ---- The program -------------------------------------------------------------------------------

/// Maps a file.
void map_file(const char* path, model& m) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0) {
        throw std::runtime_error(std::string(path) + ": cannot read");
    }
    if (status.st_size <= 0 || status.st_size >= off_t{1} << 31) {
        refuse("its size");
    }
    m.size = static_cast<u32>(status.st_size);
    void* const bytes = ::mmap(nullptr, m.size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) {
        throw std::runtime_error(std::string(path) + ": cannot map");
    }
    ::close(file);
    m.base = static_cast<const char*>(bytes);
    const bool large = m.size >= u32{1} << 24U;
    m.sizes.prepare(m.size, large);
    m.scope_of.prepare(m.size, large);
    m.kind_of.prepare(m.size, large);
    m.mentions.prepare(m.size, large);
    m.numbers.prepare(m.size, large);
    m.value_names.prepare(m.size, large);
    m.makers.prepare(m.size, large);
    m.modules.prepare(m.size, large);
    m.names.prepare(m.size * std::size_t{4}, large);
}

void print_phases(const model& m, const stopwatch& watch) {
    std::vector<char> copy(m.size);
    std::array<double, 3> times{};
    for (auto& time : times) {
        const auto begin = std::chrono::steady_clock::now();
        std::memcpy(copy.data(), m.base, m.size);
        time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                   .count();
    }
    std::sort(times.begin(), times.end());
    double sum = 0;
    std::printf("%-24s %10s %10s\n", "phase", "ms", "memcpys");
    for (std::size_t p = 0; p < phase_names.size(); ++p) {
        const auto spent = watch.spent()[p];
        std::printf("%-24s %10.2f %10.2f\n", phase_names[p], spent, spent / times[1]);
        sum += spent;
    }
    std::printf("%-24s %10.2f %10.2f\n", "all", sum, sum / times[1]);
    std::printf("%-24s %10.2f %10.2f\n", "memcpy of the file", times[1], 1.0);
}

void run(const char* from, const char* to, bool prints_phases) {
    stopwatch watch;
    model m;
    m.watch = &watch;
    map_file(from, m);
    watch.lap(phase::open);
    scanner(m).run();
    bind_described(m);
    watch.lap(phase::values);
    tree_maker(m).run();
    watch.lap(phase::tree);
    const auto digests = digests_of(m);
    watch.lap(phase::digest);
    attributer work(m);
    work.attribute();
    watch.lap(phase::attribution);
    work.propagate();
    watch.lap(phase::propagation);
    const auto graph_size = measure_graph(m);
    watch.lap(phase::lengths);
    const auto text = spell_record(m, digests);
    watch.lap(phase::record);
    output out(to);
    out.expect(graph_size + text.size());
    model_writer(m, out).run(graph_size, text);
    watch.lap(phase::output);
    if (prints_phases) {
        print_phases(m, watch);
    }
}

} // namespace

int main(int count, char** words) {
    const bool phases_asked = count == 4 && std::string_view(words[3]) == "--phases";
    if (count != 3 && !phases_asked) {
        std::fputs("usage: tag_floor IN.onnx OUT.onnx [--phases]\n", stderr);
        return 2;
    }
    try {
        run(words[1], words[2], phases_asked);
        return 0;
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 3;
    }
}
