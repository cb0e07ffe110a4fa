// A client on the official TypeScript SDK that lists a server's tools, makes calls, and prints what it saw as one line of JSON.
// node calls.mjs MODULES PACKAGE CALLS COMMAND... where CALLS is JSON: [[name, arguments], ...]
import { pathToFileURL } from "node:url";

const [modules, name, calls, ...command] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/${path}`));
const old = name === "sdk";
const { Client } = await load(old ? "sdk/dist/esm/client/index.js" : "client/dist/index.mjs");
const { StdioClientTransport } = await load(old ? "sdk/dist/esm/client/stdio.js" : "client/dist/stdio.mjs");

const client = new Client({ name: "foreign", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env, stderr: "inherit" }));
const seen = { server: client.getServerVersion(), tools: (await client.listTools()).tools, results: [] };
for (const [tool, args] of JSON.parse(calls)) {
  const params = { name: tool, arguments: args };
  seen.results.push(await client.callTool(params).catch((error) => ({ error: [error.code, error.message] })));
}
await client.close();
process.stdout.write(JSON.stringify(seen) + "\n");
process.exit(0);
