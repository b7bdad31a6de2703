"""The workload of bench/harness on LangSmith's Python SDK, with its defaults."""

import os
import time

from langsmith import Client
from langsmith.run_trees import RunTree

CHILDREN = ["llm", "tool", "llm", "tool", "llm", "tool", "llm", "tool", "tool"]
IN = int(os.environ.get("BENCH_IN") or 2000)
OUT = int(os.environ.get("BENCH_OUT") or 2000)
TWICE = os.environ.get("BENCH_MODE") != "one"

with open(os.environ["BENCH_CORPUS"], encoding="latin1", newline="") as f:
    CORPUS = f.read()
cuts = 0


def cut(length):
    global cuts
    cuts += 1
    at = cuts * 1000003 % (len(CORPUS) - length)
    return CORPUS[at : at + length]


def inputs(kind):
    if kind != "llm":
        return {"command": cut(IN)}
    return {"messages": [{"role": "system", "content": "You are a coding agent."}, {"role": "user", "content": cut(IN)}]}


def outputs(kind):
    if kind != "llm":
        return {"output": cut(OUT)}
    usage = {"input_tokens": 512, "output_tokens": 512, "total_tokens": 1024, "input_token_details": {"cache_read": 256}}
    return {"messages": [{"role": "assistant", "content": [{"type": "text", "text": cut(OUT)}]}], "usage_metadata": usage}


def begin(client, kind, parent, thread):
    metadata = {"thread_id": thread}
    if kind == "llm":
        metadata |= {"ls_provider": "anthropic", "ls_model_name": "claude-opus-4-8"}
    fields = {"name": "bash" if kind == "tool" else kind, "run_type": kind, "inputs": inputs(kind), "extra": {"metadata": metadata}}
    if parent:
        run = parent.create_child(**fields)
    else:
        run = RunTree(**fields, ls_client=client, project_name="bench")
    if TWICE:
        run.post()
    return run


def end(run, kind, ids):
    run.end(outputs=outputs(kind))
    if TWICE:
        run.patch()
    else:
        run.post()
    ids.write(f"{run.id}\n")


def main():
    client = Client(api_url=os.environ["LANGSMITH_ENDPOINT"], api_key="bench-key")
    rate, began = int(os.environ.get("BENCH_RATE") or 0), time.monotonic()
    with open(os.environ["BENCH_IDS"], "w", buffering=1) as ids:
        for turn in range(int(os.environ.get("BENCH_TURNS") or 1000)):
            thread = f"thread-{turn >> 3}"
            root = begin(client, "chain", None, thread)
            for kind in CHILDREN:
                end(begin(client, kind, root, thread), kind, ids)
            end(root, "chain", ids)
            if rate:
                time.sleep(max(0, began + (turn + 1) * 10 / rate - time.monotonic()))
    client.flush()


main()
