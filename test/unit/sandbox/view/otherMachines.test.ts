import { suite, test } from 'node:test';
import assert from 'node:assert/strict';
import { onOtherMachine } from './otherMachine.ts';
import { SandboxWorld } from '../../../support/sandboxWorld.ts';

const probed = await SandboxWorld.create('overlay');
const overlay = await probed.sandboxes.status();
await probed.remove();

/** A script that removes a program of the system, by links to all others in the place of the folder. */
const without = (program: string): string =>
  [
    'mkdir "$2/all" "$2/some"',
    'mount --bind /usr/bin "$2/all"',
    'ln -s "$2/all"/* "$2/some"',
    `rm "$2/some/${program}"`,
    'mount --bind "$2/some" /usr/bin',
  ].join('\n');

/** A script that puts another program in the place of one of the system, which does not hear some of its options. */
const weakened = (program: string, options: string): string =>
  [
    `cp /usr/bin/${program} "$2/real-${program}"`,
    `cat >"$2/${program}" <<END`,
    '#!/bin/sh',
    'for each; do',
    '  shift',
    `  case " ${options} " in *" \\$each "*) ;; *) set -- "\\$@" "\\$each" ;; esac`,
    'done',
    `exec "$2/real-${program}" "\\$@"`,
    'END',
    `chmod +x "$2/${program}"`,
    `mount --bind "$2/${program}" /usr/bin/${program}`,
  ].join('\n');

/** Machines without an isolated sandbox: how this one becomes such a one, and what is told of it. */
const machines: Readonly<Record<string, readonly [make: string, reason: string, detail: RegExp]>> = {
  'no bubblewrap': [without('bwrap'), 'bubblewrap', /^$/],
  'no unshare': [without('unshare'), 'namespaces', /^unshare is not installed$/],
  'a bubblewrap that does not work': [
    'mount --bind /bin/false /usr/bin/bwrap',
    'namespaces',
    /no reason was given/,
  ],
  'no user namespaces, as under AppArmor': [
    'echo 0 > /proc/sys/user/max_user_namespaces',
    'namespaces',
    /unshare/,
  ],
  'processes that outlive their namespace': [
    [weakened('unshare', '--pid --kill-child'), weakened('bwrap', '--unshare-pid --die-with-parent')].join(
      '\n',
    ),
    'leaks',
    // Both are true of such a machine. A slow one may look before the process that goes on has its name.
    /^(a process went on after its command|LEAK pid)$/,
  ],
  'a container, which hides parts of /proc': ['mount -t tmpfs tmpfs /proc/irq', 'namespaces', /proc/],
};

suite('machines without an isolated sandbox', () => {
  for (const [name, [make, reason, detail]] of Object.entries(machines))
    test(`${name}: the reason is told, and a copy does the same`, async t => {
      if (!overlay.engine) return void assert.notEqual(overlay.why, undefined);
      const { status, told } = await onOtherMachine(t, make, 'auto', [
        { command: 'cat src/a.ts; echo x > src/b.ts; rm src/a.ts', pending: { 'src/a.ts': 'pending' } },
        'cat src/a.ts src/b.ts',
      ]);
      assert.deepEqual(
        [status.engine, status.isolated, status.why?.reason],
        ['copy', false, reason],
        status.why?.detail,
      );
      assert.match(status.why?.detail ?? '', detail);
      const [first, next] = told;
      assert.deepEqual(
        [first?.output, first?.changes, first?.disk],
        ['pending', ['src/a.ts: pending => ∅', 'src/b.ts: b => x'], ''],
      );
      assert.equal(next?.output, 'ab');
    });

  test('no isolated sandbox where only that is wanted: there is none, and the reason is told', async t => {
    if (!overlay.engine) return void assert.notEqual(overlay.why, undefined);
    const { status } = await onOtherMachine(t, without('bwrap'), 'overlay', []);
    assert.deepEqual(status, { isolated: false, why: { reason: 'bubblewrap' } });
  });
});

test('a folder whose file system cannot be overlaid is copied', async t => {
  if (!overlay.engine) return void assert.notEqual(overlay.why, undefined);
  const folders = [{ name: 'user', fsPath: '/proc/sys/user' }];
  const world = await SandboxWorld.create('auto', {}, { folders: () => folders });
  t.after(() => world.remove());
  const { engine, why } = await world.sandboxes.status();
  assert.deepEqual([engine, why?.reason], ['copy', 'mount']);
});
