// types of the orchard, for its messages
#pragma once
#include <stdint.h>

#define NAME_SIZE 12
constexpr int PLOTS = 3;

// the codes of the messages
// @dir c2s
enum ClientOpcode : uint16_t {
    OP_ENTER = 1,
    OP_WATER,
    OP_PICK,
    OP_TALK = 0x10,
};

// @dir s2c
enum ServerOpcode : uint16_t {
    OP_WELCOME = 1,
    OP_GARDEN,
    OP_WEATHER,
    OP_CHATTER = 0x10,
};

enum class Fruit : uint8_t { none, apple, pear, quince = 9 };

#pragma pack(push, 1)

// the start of every message
struct header {
    uint16_t size; // of the message in bytes, with the header @length
    uint16_t opcode; // @opcode
};

// a place in the orchard
struct place {
    int16_t x, y;
    uint8_t level : 3;
    uint8_t facing : 5; // in 32nds of a circle
};

// a tree and what grows on it
struct tree {
    place    at;
    Fruit    fruit;
    uint8_t  count;
    be32     planted; // seconds since 1970
};

#pragma pack(pop)

static_assert(sizeof(tree) == 11);
