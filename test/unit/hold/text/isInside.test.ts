import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { isInside } from '../../../../src/agent/base/system/realPath.ts';

test('a path is inside its folder and the folders above, whatever its names begin with', () => {
  const root = path.resolve('/projects/app');
  for (const inside of ['', 'a.ts', '..notes/a.ts', '...', 'src/../a.ts'])
    assert.equal(isInside(path.resolve(root, inside), root), true, inside);
  for (const outside of ['..', '../app2', '../../other', '/etc'])
    assert.equal(isInside(path.resolve(root, outside), root), false, outside);
});
