// Runs the SQL statements of standard input, a JSON array of texts, in the folder of the first argument, and prints an array with the rows of each.
const { DuckDBInstance } = require("@duckdb/node-api");

async function main() {
  const statements = JSON.parse(require("fs").readFileSync(0, "utf8"));
  process.chdir(process.argv[2]);
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  const out = [];
  for (const sql of statements) {
    const reader = await connection.runAndReadAll(sql);
    out.push({ names: reader.columnNames(), types: reader.columnTypes().map(String), rows: reader.getRowsJson() });
  }
  process.stdout.write(JSON.stringify(out));
}

main().catch((error) => {
  console.error(String(error.message ?? error));
  process.exit(1);
});
