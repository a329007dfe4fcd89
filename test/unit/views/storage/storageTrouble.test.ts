import { test, type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { noSpace } from '../../../support/memoryWorkspace.ts';
import * as stub from '../../../support/fuzz/vscodeStub.ts';

stub.useVscodeStub();
const { StorageTrouble } = await import('../../../../src/views/storage/storageTrouble.ts');

/** What the user is told, and a clock that stands still until the test moves it. */
function given(context: TestContext) {
  const told: string[] = [];
  const show = (text: string): Promise<undefined> => {
    told.push(text);
    return Promise.resolve(undefined);
  };
  Object.assign(stub.window, { showWarningMessage: show, showErrorMessage: show });
  const clock = { now: 0 };
  context.mock.method(performance, 'now', () => clock.now);
  return { told, clock, trouble: new StorageTrouble() };
}

const readOnly = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
const FULL = ' The disk is full: free some space.';

test('previews that cannot be saved keep everything from being applied; a conversation does not', context => {
  const { told, trouble } = given(context);
  trouble.failed('previews', noSpace());
  new StorageTrouble().failed('conversations', noSpace());
  assert.deepEqual(told, [
    `Redline cannot save previews to its storage. What is new continues in memory and is saved as soon as that works again; until then nothing can be applied.${FULL}`,
    `Redline cannot save the conversation to its storage. What is new continues in memory and is saved as soon as that works again.${FULL}`,
  ]);
});

test('an entry that can never be written: what is lost, and that everything else is saved', context => {
  const { told, trouble } = given(context);
  trouble.lostPreviews(['p3']);
  trouble.lostPreviews(['p3']);
  trouble.lostMessage();
  trouble.lostMessage();
  assert.deepEqual(told, [
    'Redline cannot save the latest state of p3, since it is too large or cannot be written as text. It is lost when this window closes, and p3 cannot be applied. Everything else is saved.',
    'Redline cannot save part of the conversation, since it is too large or cannot be written as text. That part is lost when this window closes. Everything else is saved.',
  ]);
});

test('one cause is told once, whichever logs it fails and however long; another cause is told too', context => {
  const { told, clock, trouble } = given(context);
  trouble.failed('conversations', noSpace());
  clock.now += 600_000;
  trouble.failed('previews', noSpace());
  trouble.failed('previews', readOnly);
  assert.equal(told.length, 2);
  assert.match(told[1] ?? '', /read-only/);
});

test('a cause that comes back is told again once all logs had recovered, unless it was told just now', context => {
  const { told, clock, trouble } = given(context);
  trouble.failed('conversations', noSpace());
  trouble.failed('previews', noSpace());
  trouble.recovered('previews');
  clock.now += 600_000;
  trouble.failed('previews', noSpace());
  assert.equal(told.length, 1, 'the conversation still cannot be saved');
  trouble.recovered('previews');
  trouble.recovered('conversations');
  trouble.failed('previews', noSpace());
  assert.equal(told.length, 2);
  trouble.recovered('previews');
  trouble.failed('previews', noSpace());
  assert.equal(told.length, 2, 'a disk that is nearly full fails again and again');
});

test('a storage that cannot be locked, and no second warning about its cause', context => {
  const { told, trouble } = given(context);
  trouble.notLocked(readOnly);
  trouble.failed('conversations', readOnly);
  assert.deepEqual(told, [
    'Redline cannot lock its storage, so stored previews and conversations are not shown, and new previews are lost when this window closes. The disk is read-only: make it writable. Then reload the window.',
  ]);
});
