// Package cstruct compiles headers of C and C++: structs as messages, with the layout that GCC gives them.
//
// # What is read
//
// Structs, classes and unions, enums, typedefs and using, namespaces, constants (#define, constexpr, const, enum), #if and #include of other
// files of the project, #pragma pack, __attribute__((packed, aligned)), alignas, templates whose arguments are numbers or types, bases, and
// static_assert, which must hold. Functions are skipped with a note, as are variables. Expressions have numbers of 64 bits, sizeof, alignof,
// offsetof and casts. Macros with arguments are expanded; those with # or ## are an error where they are used.
//
// The reader accepts more than compilers do: it needs neither the order of declarations nor the headers of the system, whose types are built
// in (types.go), as are short names that many headers have (u8, uint32, DWORD, be16). A name that neither the file nor what it includes defines
// is looked up in the other files of the project, by its namespaces; one that several of them define is unknown, as it must not be guessed.
// Names without a value in #if are 0, as in C, with a warning. The macro __cplusplus is not defined; those of the data model's compilers are.
//
// # Messages
//
// Each named struct of a file outside other structs is a message, also one that others contain: its name is that of its typedef, if it has one,
// and with its namespace in front if a file has several of the name. Templates are none. A message is the bytes of the struct. What cannot be
// read is an error, and makes the struct Broken: it has the fields before the error, and so are the structs that contain it.
//
// The code is, in this order, that of @opcode in the comment; of a constant opcode (or packet_id, msg_type ...) in the struct; of a value of an
// enum as the argument of a base, struct Hello : Base<OP_HELLO>; of the code map; or of an enum whose name contains opcode, or whose comment
// has @opcode, with the name of the struct: OP_Login and Login_Struct are one name. The group is the name of the enum, as codes of several
// enums overlap.
//
// # Layout
//
// That of GCC for x86-64, which TestToolLayout compares with a compiler, in both byte orders: bit fields do not cross units of their type unless
// packed, and begin at the least significant bit, or at the most significant one with the option endian=big. The option data-model has the
// sizes of long, pointers and wchar_t; alignments are sizes. Structs without members have no bytes, as in C. Bases are laid out as in C++,
// whose padding is used again if the base has constructors or bases. Virtual functions are an error: objects with them are no messages.
//
// char[] is text up to its first zero byte, in the encoding of the option; char16_t[] is UTF-16; uint8_t[] and unsigned char[] are bytes; other
// arrays are lists. Enums are numbers with names. Pointers are numbers, with a warning.
//
// An array at the end without a number of elements, with 0, or with 1 if no padding follows, extends to the end of the message. Of a union one
// member is shown, the first of the largest ones, with a warning.
//
// # Annotations
//
// Comments say what declarations do not: see annotations. They are words that begin with "@" in the comment above a declaration, or beside it.
package cstruct
