// A client on the official TypeScript SDK: what it is told to do, and one line of JSON about what it saw.
// node client.mjs MODULES PACKAGE (http URL TOKEN | stdio COMMAND...) with MARK (a file that `nap` writes) and TOOLS (a directory) in the environment.
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [modules, name, transportName, ...rest] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${modules}/@modelcontextprotocol/${path}`));
const old = name === "sdk";
const { Client } = await load(old ? "sdk/dist/esm/client/index.js" : "client/dist/index.mjs");
const { StdioClientTransport } = await load(old ? "sdk/dist/esm/client/stdio.js" : "client/dist/stdio.mjs");
const { StreamableHTTPClientTransport } = await load(old ? "sdk/dist/esm/client/streamableHttp.js" : "client/dist/index.mjs");

const newest = process.env.REVISION === "newest";
let changed;
const change = new Promise((resolve) => (changed = resolve));
const modern = { versionNegotiation: { mode: "auto" }, listChanged: { tools: { autoRefresh: false, onChanged: () => changed() } } };
const options = { capabilities: { elicitation: {} }, ...(newest ? modern : {}) };
const client = new Client({ name: "foreign", version: "1" }, options);
const questions = [];
const answer = async (request) => {
  questions.push(request.params.message);
  return { action: "accept", content: { allow: questions.length === 1 } };
};
if (old) {
  const { ElicitRequestSchema, ToolListChangedNotificationSchema } = await load("sdk/dist/esm/types.js");
  client.setRequestHandler(ElicitRequestSchema, answer);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed());
} else {
  client.setRequestHandler("elicitation/create", answer);
  if (!newest) client.setNotificationHandler("notifications/tools/list_changed", () => changed());
}
const transport =
  transportName === "http"
    ? new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } } })
    : new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: "inherit" });
await client.connect(transport);

const call = (params, options) => (old ? client.callTool(params, undefined, options) : client.callTool(params, options));
const until = async (done) => {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 20));
};
const seen = { tools: (await client.listTools()).tools.map((tool) => tool.name) };
const sum = await call({ name: "add", arguments: { a: 1, b: 2 } });
seen.call = [sum.content[0].text, sum.isError ?? false];
seen.error = (await call({ name: "add", arguments: { a: "x" } })).isError;
seen.unknown = await call({ name: "nope", arguments: {} }).then(() => 0, (error) => error.code);

const yes = await call({ name: "asked", arguments: { text: "hi" } });
const no = await call({ name: "asked", arguments: { text: "hi" } });
seen.asked = [yes.content[0].text, no.isError, questions.length, questions.every((text) => text.includes("`asked` would run"))];
const large = await call({ name: "large", arguments: {} });
const link = large.content.find((block) => block.type === "resource_link");
const whole = (await client.readResource({ uri: link.uri })).contents[0].text;
seen.large = [large.content[0].text.length <= 40000, whole.length, large.structuredContent.rows.length];

const beats = [];
const abort = new AbortController();
const napping = call({ name: "nap", arguments: { mark: process.env.MARK } }, { signal: abort.signal, onprogress: (step) => beats.push(step.progress) });
const ended = napping.then(() => "answered", () => "cancelled");
await until(() => beats.length >= 1 && existsSync(process.env.MARK));
abort.abort();
seen.cancel = await ended;
seen.progress = beats.length >= 1;

// A directory appears at once, as a tool that is made does.
const [aside, place] = [`${process.env.TOOLS}/.new`, `${process.env.TOOLS}/tool-new`];
mkdirSync(aside);
const config = { uid: "tool-new", name: "fresh", description: "A fresh tool.", schema: { input: { type: "object" } } };
config.implementation_details = { type: "shell_command", entrypoint: "true", args: {} };
writeFileSync(`${aside}/config.json`, JSON.stringify(config));
writeFileSync(`${aside}/description.md`, "# fresh\n");
renameSync(aside, place);
await change;
seen.changed = true;
seen.after = (await client.listTools()).tools.map((tool) => tool.name);
await client.close();
process.stdout.write(JSON.stringify(seen) + "\n");
process.exit(0);
