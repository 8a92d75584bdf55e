// Package muta reads packet definitions of the MUTA packetwriter.
package muta
