// Package parquet writes the values of many messages of one definition as a Parquet file, for DuckDB, pandas, ClickHouse and the like.
//
// A file has one row per frame. Its first columns say which frame it is: _capture, _conn, _dir, _time, _n, _code, _length, _status and _resumed;
// the others are the fields of the definition, with the names, the nesting and the values that JSON has:
//
//	integer             an integer of 8, 16, 32 or 64 bits; one of up to 128 bits is decimal text
//	float, scaled       FLOAT for floats of 16 and 32 bits, DOUBLE
//	named value         its name, or the number as text if it has none
//	text                a string; what is not valid UTF-8 becomes U+FFFD
//	bytes               bytes; a UUID is one
//	flags               a group with a column for each part
//	list                LIST; also one that JSON shows as its only element
//	choice              an optional group with the fields of all alternatives; one alternative that is a value is that value
//	recursion           JSON text, from the second level on
//
// A value that could not be read, or is not there, is null. Fields with the same name and type in different alternatives are one column. A column
// whose name differs from another one only in case has a number behind it, see Schema.Renamed.
package parquet
