import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileChange } from '../../../../src/agent/hold/preview/fileChange.ts';
import { PreviewStore } from '../../../../src/agent/hold/preview/previewStore.ts';
import {
  fileAfter,
  firstStop,
  idsAfter,
  stepFrom,
  type Place,
} from '../../../../src/views/review/reviewOrder.ts';
import { create } from '../../../support/changes.ts';
import { draft } from '../../../support/drafts.ts';
import { MemoryPreviewLog } from '../../../support/testSession.ts';

const files = (...paths: string[]): FileChange[] => paths.map(path => create(path, path));

/** p1 with one file, p2 with three, p3 without any. */
function given() {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  store.stage(draft({ changes: files('one.txt') }));
  store.stage(draft({ changes: files('a.txt', 'b.txt', 'c.txt') }));
  store.stage(draft({ changes: null }));
  return store.list('oldestFirst');
}

const seen = (from: Place | undefined, direction: 1 | -1): string => {
  const stop = stepFrom(given(), from, direction);
  return [stop?.preview.id, stop?.path].filter(part => part !== undefined).join(' ');
};

test('a review goes through the files of a preview, then on to the next preview, and begins anew at the end', () => {
  const walked: string[] = [];
  let place: Place | undefined;
  for (let step = 0; step < 6; step++) {
    const stop = stepFrom(given(), place, 1);
    assert.ok(stop);
    place = { previewId: stop.preview.id, ...(stop.path === undefined ? {} : { path: stop.path }) };
    walked.push([place.previewId, ...(place.path === undefined ? [] : [place.path])].join(' '));
  }
  assert.deepEqual(walked, ['p1', 'p2 a.txt', 'p2 b.txt', 'p2 c.txt', 'p3', 'p1']);
});

test('it goes backwards in the same order, and enters a preview at its last file', () => {
  assert.equal(seen(undefined, -1), 'p3');
  assert.equal(seen({ previewId: 'p3' }, -1), 'p2 c.txt');
  assert.equal(seen({ previewId: 'p2', path: 'b.txt' }, -1), 'p2 a.txt');
  assert.equal(seen({ previewId: 'p2', path: 'a.txt' }, -1), 'p1');
  assert.equal(seen({ previewId: 'p1' }, -1), 'p3');
});

test('from the multi-file diff of a preview it goes to another preview', () => {
  assert.equal(seen({ previewId: 'p2' }, 1), 'p3');
  assert.equal(seen({ previewId: 'p2' }, -1), 'p1');
});

test('from a preview that is not pending any more it begins at the first one, and with nothing pending nowhere', () => {
  assert.equal(seen({ previewId: 'p9', path: 'a.txt' }, 1), 'p1');
  assert.equal(stepFrom([], { previewId: 'p9' }, 1), undefined);
});

test('after a preview comes what is listed below it, then what is above', () => {
  assert.deepEqual(idsAfter(given(), 'p2'), ['p3', 'p1']);
  assert.deepEqual(idsAfter(given(), 'p3'), ['p1', 'p2']);
});

test('what may hold secrets is never opened by a review that goes on by itself, only by the user', () => {
  const store = new PreviewStore(new MemoryPreviewLog(), error => assert.fail(String(error)));
  store.stage(draft({ changes: files('one.txt') }));
  store.stage(draft({ changes: files('.env'), purpose: 'secret' }));
  store.stage(draft({ changes: files('two.txt') }));
  const previews = store.list('oldestFirst');
  assert.deepEqual(idsAfter(previews, 'p1'), ['p3']);
  assert.deepEqual(idsAfter(previews, 'p2'), ['p3', 'p1']);
  assert.equal(stepFrom(previews, { previewId: 'p1' }, 1)?.preview.id, 'p2', 'the user steps to it');
});

test('after a file that was split off comes the next one that is left', () => {
  const before = files('a', 'b', 'c', 'd');
  assert.equal(fileAfter(before, 'b', files('a', 'd'))?.path, 'd');
  assert.equal(fileAfter(before, 'd', files('a', 'b'))?.path, 'a');
  assert.equal(fileAfter(before, 'b', []), undefined);
});

test('only a preview of several files begins at a file', () => {
  assert.deepEqual(
    given().map(preview => firstStop(preview).path),
    [undefined, 'a.txt', undefined],
  );
});
