// messages of the orchard, an invented game
#pragma once
#include "types.h"

#pragma pack(push, 1)

// the first message of a client
struct enter : header {
    static constexpr uint16_t opcode = OP_ENTER;
    uint32_t version;
    char     name[NAME_SIZE];
    uint8_t  key[8];
};

// answers enter
struct welcome : header {
    static constexpr uint16_t opcode = OP_WELCOME;
    uint32_t id;
    place    at;
    float    wind[2];
    bool     owner;
};

// waters a plot
struct water : header {
    static constexpr uint16_t opcode = OP_WATER;
    uint8_t plot;
    float   liters;
};

// picks a fruit, or shakes a tree
struct pick : header {
    static constexpr uint16_t opcode = OP_PICK;
    uint8_t kind;
    union {
        struct {
            uint16_t index;
            Fruit    fruit;
        } one;           // @when kind == 1
        double   force;  // @when kind == 2
        uint32_t raw;    // @show
    } how;
};

// what a player says
struct talk : header {
    static constexpr uint16_t opcode = OP_TALK;
    char text[];
};

// the trees of the plots, and what is ripe in each
struct garden : header {
    static constexpr uint16_t opcode = OP_GARDEN;
    uint16_t ripe[PLOTS][2];
    uint8_t  trees_count;
    tree     trees[]; // @count trees_count
};

// what another player says
struct chatter : header {
    static constexpr uint16_t opcode = OP_CHATTER;
    uint32_t id;
    uint8_t  length; // of the text
    char     text[]; // @count length @text utf-8
};

#pragma pack(pop)

// the weather; the only message that is aligned
struct weather {
    header   head;
    double   warmth;
    uint64_t until;
    uint16_t rain : 10; // in tenths of a millimeter
    uint16_t sunny : 1;
    alignas(4) uint8_t clouds;
};
