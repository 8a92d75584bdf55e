// Package mavlink compiles definitions of MAVLink, a protocol of drones: files in XML that list messages and enums.
//
//	<mavlink>
//	  <include>minimal.xml</include>
//	  <enums>
//	    <enum name="LAMP" bitmask="true">
//	      <entry value="1" name="LAMP_RED"><description>...</description></entry>
//	    </enum>
//	  </enums>
//	  <messages>
//	    <message id="300" name="LAMPS">
//	      <description>...</description>
//	      <field type="uint8_t" name="lamps" enum="LAMP">...</field>
//	      <field type="uint16_t" name="voltage" units="mV" invalid="UINT16_MAX">...</field>
//	      <extensions/>
//	      <field type="char[20]" name="label">...</field>
//	    </message>
//	  </messages>
//	</mavlink>
//
// Source: the pages "Packet Serialization", "How to Define MAVLink Messages & Enums" and "MAVLink XML Schema" of the MAVLink guide
// (mavlink.io), and the headers in C that the project publishes, for what the guide leaves open.
//
// # Messages
//
// A message is a payload: its id is in the frame, as are lengths and the checksum, which the envelope of a project describes. Fields are on the
// wire by the size of their types (of the elements of an array), the largest first and equal ones in the order of the text; extensions follow
// in their order. A message ends before its extensions, or before any of them, if its sender does not have them: they are optional. Trailing
// zeros of a frame of version 2 are the business of the envelope, see "zeros" in package envelope.
//
// Extra of a message is the byte CRC_EXTRA, which checksums count behind the frame: both bytes of CRC-16/MCRF4XX combined by exclusive or,
// over the name of the message and the type and the name of each field before the extensions, in wire order, each with a space behind it, and
// the length of an array as a byte.
//
// # Types
//
// Numbers are little-endian. char[N] is text that zeros fill up, in the encoding of the settings; uint8_t[N] is bytes, unless it has an enum or
// units; other arrays are lists. An enum gives names to values. One with bitmask="true" is a value with a member for each bit that has a
// name, and _value for all. All enums of a name in a project are one: a file may add entries to an enum of one that it includes.
//
// Descriptions, units, display, print_format, invalid, default, multiplier, minValue, maxValue and instance of a field are its
// documentation; values are not scaled. deprecated, superseded and wip are said in the documentation of the message or the field. Parameters
// of the entries of MAV_CMD are read and not shown.
//
// # Decisions
//
//   - An include that the project does not have is a warning: names of its enums are missing.
//   - The value of an entry is decimal, 0x and hexadecimal digits, 0b and bits, or a power such as 2**5. Without one it is one more than the
//     highest before it. Entries beyond the type of a field have no name there.
//   - Format only removes white space at the ends of lines: files have comments and tables of their own.
package mavlink
