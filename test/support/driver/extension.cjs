/**
 * Runs what a test posts to it: the text of a function, called with Redline's exported API, `vscode` and one JSON
 * argument. Where it listens stands in the file address.json of its global storage, written when it is ready.
 */
const { once } = require('node:events');
const fs = require('node:fs');
const { createServer } = require('node:http');
const path = require('node:path');
const { text } = require('node:stream/consumers');
const vscode = require('vscode');

exports.activate = async context => {
  const redline = vscode.extensions.getExtension('redline.redline');
  const api = await redline.activate();
  const storage = path.join(path.dirname(context.storageUri.fsPath), redline.id);
  const kept = {};

  const run = async body => {
    const { code, argument } = JSON.parse(body);
    const evaluate = globalThis.eval; // by another name it runs in the global scope
    const callee = evaluate(`(${code})`);
    return callee({ api, vscode, fs, storage, kept }, argument);
  };
  const server = createServer(async (request, response) => {
    let answer;
    try {
      answer = { value: (await run(await text(request))) ?? null };
    } catch (error) {
      answer = { error: String(error?.stack ?? error) };
    }
    response.end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.subscriptions.push({ dispose: () => server.close() });
  const folder = context.globalStorageUri.fsPath;
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'address.json');
  fs.writeFileSync(`${file}.new`, JSON.stringify({ port: server.address().port, pid: process.pid }));
  fs.renameSync(`${file}.new`, file);
};
