/**
 * Preloaded into each Node process of a VS Code: appends a line to network.jsonl, beside this file, for each thread that
 * begins, TCP connection that is opened, datagram that is sent and name that is looked up.
 *
 * It stands at the functions by which Node's own modules leave JavaScript, so that it does not matter who connects and
 * how: `net`, `tls`, `http`, `fetch`, `WebSocket`, and whatever else is built on them. It gets into the processes that
 * a recorded one starts, and into their worker threads, unless a thread is started with `execArgv` of its own. It does
 * not see what native code does by itself, nor what a program does that is not Node. Local pipes are no network, and are
 * left out.
 */
const { ChildProcess } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { threadId } = require('node:worker_threads');

const log = path.join(__dirname, 'network.jsonl');
const preload = `--require ${JSON.stringify(__filename)}`;

const record = (kind, to) => {
  const { pid, ppid } = process;
  const [, , , ...stack] = String(new Error().stack).split('\n');
  // At once, so that nothing is lost when the process is killed. One write of a short line is not mixed with another.
  fs.appendFileSync(log, `${JSON.stringify({ kind, to, pid, ppid, thread: threadId, stack })}\n`);
};

/** Has a function see the arguments of each call of a method before the method is called. */
const watch = (owner, method, see) => {
  const original = owner[method];
  if (typeof original !== 'function') throw new Error(`Node has no ${method} where it is looked for.`);
  owner[method] = function (...args) {
    see(args);
    return original.apply(this, args);
  };
};

const { TCP } = process.binding('tcp_wrap');
for (const method of ['connect', 'connect6'])
  watch(TCP.prototype, method, ([, address, port]) => record('connect', `${address}:${port}`));

const { UDP } = process.binding('udp_wrap');
for (const method of ['connect', 'connect6'])
  watch(UDP.prototype, method, ([address, port]) => record('datagram', `${address}:${port}`));
// A socket that is connected sends without an address.
for (const method of ['send', 'send6'])
  watch(UDP.prototype, method, ([, , , port, address]) => {
    if (typeof port === 'number') record('datagram', `${address}:${port}`);
  });

const names = process.binding('cares_wrap');
for (const method of ['getaddrinfo', 'getnameinfo'])
  watch(names, method, ([, name]) => record('lookup', name));
const queries = Object.getOwnPropertyNames(names.ChannelWrap.prototype).filter(name =>
  /^(query|getHost)[A-Z]/.test(name),
);
if (queries.length === 0) throw new Error('Node has no queries where they are looked for.');
for (const method of queries)
  watch(names.ChannelWrap.prototype, method, ([, name]) => record('lookup', name));

/** Gets this file into the program, if it is Node: VS Code takes NODE_OPTIONS away from its extension hosts. */
const start = ([options]) => {
  const isOptions = pair => pair.startsWith('NODE_OPTIONS=');
  const given = options.envPairs?.find(isOptions) ?? 'NODE_OPTIONS=';
  if (given.includes(preload)) return;
  const others = options.envPairs?.filter(pair => !isOptions(pair)) ?? [];
  options.envPairs = [...others, `${given} ${preload}`];
};
watch(ChildProcess.prototype, 'spawn', start);
watch(process.binding('spawn_sync'), 'spawn', start);

record('thread', process.argv.slice(1).join(' '));
