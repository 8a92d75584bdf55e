-- A pair of addresses exchanges packets of the core protocol, queries of the info port next to that of the game, or announcements of zones to
-- a directory; its first datagrams tell which. The messages of a session of the core protocol are those of a game, a directory or a biller.
-- codec/transport/subspace has the same rules.

local function number(data, at) -- 32 bits
	local a, b, c, d = data:byte(at + 1, at + 4)
	return a + b * 256 + c * 65536 + d * 16777216
end

-- is_question reports whether a datagram may be a request to an info port.
local function is_question(data)
	local kind = #data > 1 and data:byte(1) == 0 and data:byte(2) or 0
	return #data == 4 and not (kind > 0 and kind <= 0x13) or #data == 8 and number(data, 4) <= 3
end

-- is_answer reports whether a datagram answers a request to an info port.
local function is_answer(question, data)
	if #question == 4 then return #data == 8 and data:sub(5) == question end
	return #question >= 8 and #data >= 8 and data:sub(1, 4) == question:sub(1, 4) and number(data, 4) <= 3
end

-- is_announcement reports whether a datagram announces a zone: its version is 134, and it ends with its only zero after the name.
local function is_announcement(data)
	return #data > 94 and #data <= 480 and number(data, 10) == 134 and data:byte(15) ~= 0 and data:find("\0", 95, true) == #data
end

sessions = {ports = 2}

function sessions.begins(data) return #data == 8 and data:sub(1, 2) == "\0\1" and data:byte(8) == 0 end

function sessions.see(s, data, to_server, frame)
	if not s.mode then
		if to_server and not s.asked and is_announcement(data) then
			s.mode = "announcements"
		elseif not to_server and s.asked and is_answer(s.asked, data) then
			s.mode = "info"
		elseif not (to_server and is_question(data)) then
			s.mode = "core"
		end
	end
	if to_server then
		s.asked = data:sub(1, 8)
	elseif s.mode == "info" and #data == 8 and is_answer(s.asked, data) and #s.asked == 8 then
		s.summaries = s.summaries or {}
		s.summaries[frame] = true
	end
end

function sessions.group(s, data, to_server, frame, first, ruled)
	if s.mode == "announcements" then return "directory", to_server and "zone_announcement" or nil end
	if s.mode ~= "core" then
		if to_server then return "info", #data == 4 and "ping" or #data >= 8 and "summary_request" or nil end
		return "info", (#data > 8 or s.summaries and s.summaries[frame]) and "summary" or #data == 8 and "pong" or nil
	end
	if data:byte(1) == 0 then
		if #data >= 12 and data:byte(2) == 1 and data:byte(8) == 0xff then return "peer" end
		return "core"
	end
	if first and to_server and not s.group then
		s.group = data:byte(1) == 1 and #data == 5 and "directory" or data:byte(1) == 2 and #data == 173 and "biller" or "game"
	end
	return ruled or s.group or "game"
end
