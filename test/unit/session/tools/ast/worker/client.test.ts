import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { WorkerAstEngine } from '../../../../../../src/agent/session/tools/ast/worker/client.ts';

/** Does what the pattern says, and reports its thread as the result. */
const WORKER = `
import { parentPort, threadId } from 'node:worker_threads';
parentPort.on('message', ({ type, id, request }) => {
  if (type === 'cancel') parentPort.postMessage({ type: 'cancelled', id });
  if (type !== 'run') return;
  const { pat } = request.ops[0];
  if (pat === 'finish') parentPort.postMessage({ type: 'done', id, summary: { searched: threadId } });
  if (pat === 'find') parentPort.postMessage({ type: 'files', id, files: [] });
  if (pat === 'hang') for (;;);
});
`;
/** If a stuck worker is not ended, these tests wait forever. */
const options = { timeout: 30_000 };

function started(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const engine = new WorkerAstEngine(new URL(`data:text/javascript,${encodeURIComponent(WORKER)}`), {
    grammars: {},
  });
  t.after(() => engine.dispose());
  return {
    search: (pat: string, signal = new AbortController().signal, onFiles = () => undefined as void) =>
      engine.run({ ops: [{ pat, out: null }], roots: [], inMemory: [] }, { onFiles }, signal),
    /** Lets the time pass that the worker has to confirm a cancellation. */
    wait: () => t.mock.timers.tick(2_000),
  };
}

test(
  'a worker that does not confirm a cancellation is ended, and a new one runs the other searches',
  options,
  async t => {
    const { search, wait } = started(t);
    const { searched: first } = await search('finish');
    const abort = new AbortController();
    const hanging = search('hang', abort.signal);
    const before = search('finish');
    abort.abort();
    await assert.rejects(hanging, { name: 'AbortError' });
    const after = search('finish');
    wait();
    const [{ searched: second }, { searched: third }] = await Promise.all([before, after]);
    assert.notEqual(second, first);
    assert.equal(third, second);
  },
);

test(
  'a search whose listener has received files is not repeated, and its error says what to do',
  options,
  async t => {
    const { search, wait } = started(t);
    let finding: Promise<unknown> = Promise.resolve();
    await new Promise<void>(resolve => {
      finding = search('find', undefined, resolve);
    });
    const abort = new AbortController();
    const hanging = search('hang', abort.signal);
    const refused = assert.rejects(finding, {
      name: 'AstError',
      failure: {
        code: 'other',
        message: 'another search was stuck, and both had to be ended. Call it again.',
      },
    });
    abort.abort();
    await assert.rejects(hanging, { name: 'AbortError' });
    wait();
    await refused;
  },
);

test('a worker that confirms a cancellation goes on', options, async t => {
  const { search, wait } = started(t);
  const { searched: first } = await search('finish');
  const abort = new AbortController();
  const waiting = search('wait', abort.signal);
  abort.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  await search('finish'); // its result comes after the confirmation
  wait();
  assert.equal((await search('finish')).searched, first);
});
