// The workload of bench/harness on LangSmith's JS SDK, with its defaults.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { setImmediate as breathe, setTimeout as sleep } from "node:timers/promises";
import { Client, RunTree } from "langsmith";

const number = (name, fallback) => Number(process.env[name] || fallback);
const corpus = readFileSync(process.env.BENCH_CORPUS, "latin1");
const twice = process.env.BENCH_MODE !== "one";
const sizes = { in: number("BENCH_IN", 2000), out: number("BENCH_OUT", 2000) };
const children = ["llm", "tool", "llm", "tool", "llm", "tool", "llm", "tool", "tool"];

let cuts = 0;
function cut(length) {
  cuts += 1;
  const at = (cuts * 1000003) % (corpus.length - length);
  return corpus.slice(at, at + length);
}

function inputs(kind) {
  if (kind !== "llm") return { command: cut(sizes.in) };
  return { messages: [{ role: "system", content: "You are a coding agent." }, { role: "user", content: cut(sizes.in) }] };
}

function outputs(kind) {
  if (kind !== "llm") return { output: cut(sizes.out) };
  return {
    messages: [{ role: "assistant", content: [{ type: "text", text: cut(sizes.out) }] }],
    usage_metadata: { input_tokens: 512, output_tokens: 512, total_tokens: 1024, input_token_details: { cache_read: 256 } },
  };
}

const client = new Client({ apiUrl: process.env.LANGSMITH_ENDPOINT, apiKey: "bench-key" });
writeFileSync(process.env.BENCH_IDS, "");

async function begin(kind, parent, thread) {
  const metadata = kind === "llm" ? { thread_id: thread, ls_provider: "anthropic", ls_model_name: "claude-opus-4-8" } : { thread_id: thread };
  const fields = { name: kind === "tool" ? "bash" : kind, run_type: kind, inputs: inputs(kind), metadata };
  const run = parent ? parent.createChild(fields) : new RunTree({ ...fields, client, project_name: "bench" });
  if (twice) await run.postRun();
  return run;
}

async function end(run, kind) {
  await run.end(outputs(kind));
  await (twice ? run.patchRun() : run.postRun());
  appendFileSync(process.env.BENCH_IDS, run.id + "\n");
}

const rate = number("BENCH_RATE", 0);
const began = Date.now();
for (let turn = 0; turn < number("BENCH_TURNS", 1000); turn++) {
  const thread = "thread-" + (turn >> 3);
  const root = await begin("chain", undefined, thread);
  for (const kind of children) await end(await begin(kind, root, thread), kind);
  await end(root, "chain");
  await breathe();
  const due = rate > 0 ? began + ((turn + 1) * 10 * 1000) / rate - Date.now() : 0;
  if (due > 0) await sleep(due);
}
await client.awaitPendingTraceBatches();
