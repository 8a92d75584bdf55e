import { urlOf } from "./http";
import { equal, test } from "./testing";

test("the address of an operation: below its project or below the version, with its parameters escaped", () => {
  equal(urlOf("GET captures", { project: "one", brief: true, known: "" }), "/api/v1/projects/one/captures?brief=true&known=");
  equal(urlOf("GET definitions/{file}", { project: "one", file: "a/b $& c.def", download: undefined }), "/api/v1/projects/one/definitions/a%2Fb%20%24%26%20c.def");
  equal(urlOf("GET captures/{id}/find", { project: "one", id: "{text}", text: "len > 2" }), "/api/v1/projects/one/captures/%7Btext%7D/find?text=len+%3E+2");
  equal(urlOf("GET /projects", {}), "/api/v1/projects");
  equal(urlOf("GET /projects/{project}", { project: "one" }), "/api/v1/projects/one");
});
