package server

import "testing"

func TestCodes(t *testing.T) {
	s, _ := testServerOf(t, map[string]string{"C_A.1.def": "byte a\n"})
	const give = "POST /api/v1/one/codes"
	talk(t, s, []exchange{
		{"the first makes a map", give, `{"message":"C_A.1","code":7}`, 200, []string{`{"message":"C_A","code":7,"map":"protocol.map","used":true`, `"undo":{"id":`}, nil},
		{"a name without a definition", give, `{"message":"C_NEW","code":8}`, 200, []string{`"message":"C_NEW","code":8`}, nil},
		{"the file", "GET /api/v1/one/definitions/protocol.map", "", 200, []string{`"text":"C_A 7\nC_NEW 8\n"`}, nil},
		{"a code of another message", give, `{"message":"C_B","code":8}`, 409, []string{"C_NEW has the code 8"}, nil},
		{"taken from it", give, `{"message":"C_B","code":8,"take":true}`, 200, nil, nil},
		{"a map for another version", give, `{"message":"C_A","code":9,"map":"protocol.9.map"}`, 200, []string{`"map":"protocol.9.map","used":false`}, nil},
		{"which does not change the choice", "GET /api/v1/one", "", 200, []string{`"map":"protocol.map"`}, nil},
		{"not a name", give, `{"message":"C A","code":8}`, 422, []string{"letters, digits and _"}, nil},
		{"a path", give, `{"message":"C_A","code":8,"map":"../x.map"}`, 422, nil, nil},
		{"too large", give, `{"message":"C_A","code":65536}`, 422, []string{"above 65535"}, nil},
		{"of no workspace", "POST /api/v1/two/codes", `{"message":"C_A","code":8}`, 404, nil, nil},
	})
}
