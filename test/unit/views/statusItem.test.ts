import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Emitter } from '../../../src/agent/base/event.ts';
import { PreviewStore } from '../../../src/agent/hold/preview/previewStore.ts';
import { modify } from '../../support/changes.ts';
import { draft } from '../../support/drafts.ts';
import * as stub from '../../support/fuzz/vscodeStub.ts';
import { MemoryPreviewLog } from '../../support/testSession.ts';

stub.useVscodeStub();
const { StatusItem } = await import('../../../src/views/statusItem.ts');

/** The commands that the item was given, one after the other. */
const given: (readonly unknown[])[] = [];
let text = '';
Object.assign(stub.window, {
  createStatusBarItem: () => {
    let current: { readonly command: string; readonly arguments: readonly unknown[] } | undefined;
    return {
      show: () => undefined,
      hide: () => undefined,
      dispose: () => undefined,
      set text(shown: string) {
        text = shown;
      },
      get command() {
        return current;
      },
      set command(command) {
        current = command;
        if (command) given.push([command.command, ...command.arguments]);
      },
    };
  },
});

test('the item gets a command only when another preview is the head: VS Code drops a click on the one before', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  const stage = (path: string): string =>
    store.stage(draft({ changes: [modify(path, 'a', 'b')] })).preview.id;
  const changed = new Emitter<void>();
  const review = { list: () => store.list('newestFirst'), onDidChange: changed.event };
  const tally = { line: '', onDidChange: new Emitter<void>().event };
  const first = stage('a.txt');
  const item = new StatusItem(store, review as never, tally as never, {
    hasUnsaved: () => false,
    onDidChangeUnsaved: () => ({ dispose: () => undefined }),
  });
  for (let update = 0; update < 3; update++) {
    changed.fire();
    t.mock.timers.tick(1_000);
  }
  assert.deepEqual(given, [['redline.preview.open', first]]);

  const second = stage('b.txt');
  changed.fire();
  t.mock.timers.tick(1_000);
  assert.deepEqual(given.slice(1), [['redline.preview.open', second]]);
  item.dispose();
});

test('a click goes to the hunk that the item names', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  for (const path of ['a.txt', 'b.txt']) store.stage(draft({ changes: [modify(path, 'a', 'b')] }));
  const none = { onDidChange: new Emitter<void>().event };
  const place = { at: { text: 'Hunk 1 of 1', id: 'p2', path: 'b.txt', hunk: 0 }, ...none };
  given.length = 0;
  const item = new StatusItem(
    store,
    { list: () => store.list('oldestFirst'), ...none } as never,
    { line: '', ...none } as never,
    { hasUnsaved: () => false, onDidChangeUnsaved: () => ({ dispose: () => undefined }) },
    place,
  );
  assert.deepEqual(given, [['redline.preview.open', 'p2', 'b.txt', 0]]);
  item.dispose();
});

test('after the number of a hunk, the item names what is pending, in each language', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  for (const path of ['a.txt', 'b.txt']) store.stage(draft({ changes: [modify(path, 'a', 'b')] }));
  const none = { onDidChange: new Emitter<void>().event };
  const at = { text: 'Hunk 1 of 2', id: 'p1', path: 'a.txt', hunk: 0 };
  const { t: inEnglish } = stub.l10n;
  t.after(() => Object.assign(stub.l10n, { t: inEnglish }));
  const shown = ['', '.de', '.zh-cn'].map(language => {
    const file = new URL(`../../../l10n/bundle.l10n${language}.json`, import.meta.url);
    const texts = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    Object.assign(stub.l10n, {
      t: (message: string, ...args: string[]) => inEnglish(texts[message] ?? message, ...args),
    });
    new StatusItem(
      store,
      { list: () => store.list('oldestFirst'), ...none } as never,
      { line: '', ...none } as never,
      { hasUnsaved: () => false, onDidChangeUnsaved: () => ({ dispose: () => undefined }) },
      { at, ...none },
    ).dispose();
    return text;
  });
  assert.deepEqual(shown, [
    '$(diff) Hunk 1 of 2 · 2 pending changes',
    '$(diff) Hunk 1 of 2 · 2 ausstehende Änderungen',
    '$(diff) Hunk 1 of 2 · 2 项待处理的更改',
  ]);
});
