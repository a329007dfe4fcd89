import { test } from 'node:test';
import assert from 'node:assert/strict';
import { errorLines, redacted, settingText } from '../../../../src/views/diagnostics/redacted.ts';

const hidden = {
  secrets: ['hunter2hunter2'],
  folders: [
    ['/root', '~'],
    ['/home/ada/shop', '<folder 1>'],
    ['C:\\Users\\Ada Byron', '~'],
  ],
} as const;

const cases: readonly (readonly [what: string, text: string, expected: string])[] = [
  ['a known key', 'the key hunter2hunter2 is wrong', 'the key *** is wrong'],
  ['a key of a well-known form', 'Incorrect API key: sk-proj-0123456789abcdef.', 'Incorrect API key: ***'],
  ['a key of GitHub', 'curl -u x:ghp_0123456789abcdefABCD', 'curl -u x:***'],
  ['a key of Amazon', 'id AKIAIOSFODNN7EXAMPLE.', 'id ***.'],
  ['a key of Stripe', 'sk_live_0123456789abcdef', '***'],
  ['a key of npm', 'npm_0123456789abcdef0123', '***'],
  ['a variable of the environment', 'MY_API_KEY=abc npm test', 'MY_API_KEY=*** npm test'],
  ['a quoted variable', `DB_PASSWORD="a b" run`, 'DB_PASSWORD=*** run'],
  ['an option', 'deploy --token abc --dry', 'deploy --token *** --dry'],
  ['an option with a sign', 'deploy --auth-token=abc', 'deploy --auth-token=***'],
  ['a secret in JSON', '{"client_secret":"abc","n":1}', '{"client_secret":***,"n":1}'],
  ['a header', 'x-api-key: abc', 'x-api-key: ***'],
  ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- x', '*** x'],
  [
    'a private key of PGP',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc\n-----END PGP PRIVATE KEY BLOCK-----.',
    '***.',
  ],
  ['a key cut short', '-----BEGIN OPENSSH PRIVATE KEY-----\nabc', '***'],
  ['a header of another scheme', '"Authorization: ApiKey abc"', '"Authorization: ApiKey ***"'],
  ['a header of a scheme alone', 'authorization: abc', 'authorization: ***'],
  ['a password of curl', 'curl -u ada:abc https://host', 'curl -u ada:*** https://host'],
  ['a key of a database', 'AccountName=x;AccountKey=abc==;E=1', 'AccountName=x;AccountKey=***;E=1'],
  ['a value with spaces around the sign', 'aws_secret_access_key = abc', 'aws_secret_access_key = ***'],
  ['a variable whose name ends in key', 'OPENAI_KEY=abc run', 'OPENAI_KEY=*** run'],
  ['a variable with a secret inside its name', 'SECRET_KEY_BASE=abc run', 'SECRET_KEY_BASE=*** run'],
  ['a password of MySQL', 'MYSQL_PWD=abc run', 'MYSQL_PWD=*** run'],
  ['a personal token', 'GITHUB_PAT="abc" run', 'GITHUB_PAT=*** run'],
  ['a webhook', 'https://hooks.slack.com/services/T0/B0/abcDEF.', 'https://***.'],
  ...`glrt-0123456789abcdef GOCSPX-0123456789abcdef shpat_0123456789abcdef whsec_0123456789abcdef lin_api_0123456789abcdef
    dapi0123456789abcdef ATATT3x0123456789abcdef dckr_pat_0123456789abcdef hvs.0123456789abcdef sbp_0123456789abcdef
    pplx-0123456789abcdef ntn_0123456789abcdef PMAK-0123456789abcdef rubygems_0123456789abcdef AGE-SECRET-KEY-10123456789ABCDEF`
    .split(/\s+/)
    .map(key => [`a key such as ${key}`, `with ${key} now`, 'with *** now'] as const),
  ['a bearer token', '{"authorization":"Bearer abc.def"}', '{"authorization":"Bearer ***"}'],
  ['credentials in an address', 'http://ada:pw@host:1/v1', 'http://host:1/v1'],
  ['the query of an address', '"https://host/v1?key=abc&x=1"', '"https://host/v1?***"'],
  ['the folder inside the home folder', 'at /home/ada/shop/a.ts:1', 'at <folder 1>/a.ts:1'],
  ['the home folder', '/root/.vscode/x', '~/.vscode/x'],
  ['the home folder in JSON', '["C:\\\\Users\\\\Ada Byron\\\\t"]', '["~\\\\t"]'],
  ['the home folder with slashes', 'file:///C:/Users/Ada%20Byron/t', 'file:///~/t'],
  ['the home folder of someone else', '/Users/eve/x and C:\\Users\\eve\\x', '~/x and ~\\x'],
  [
    'nothing else',
    'p1 task-runner v1.2 https://host/v1 src/home/a.ts The token is too old. 3 tokens: 1, author: x PATH=/bin KEYBOARD=de MODE=1',
    'p1 task-runner v1.2 https://host/v1 src/home/a.ts The token is too old. 3 tokens: 1, author: x PATH=/bin KEYBOARD=de MODE=1',
  ],
];

for (const [what, text, expected] of cases)
  test(`redacted: ${what}`, () => assert.equal(redacted(text, hidden), expected));

test('names in a stack trace stay, and a long text takes no long time', () => {
  const trace = 'globalThis.setTimeout.then hvac_settings_of_room nfpmPackaging.run dapiServiceRegistry';
  assert.equal(redacted(trace, hidden), trace);
  const begun = performance.now();
  redacted(`--${'a-'.repeat(50_000)}`, hidden);
  assert.ok(performance.now() - begun < 1_000);
});

test('an error is cut only after its keys are gone', () => {
  const [line = ''] = errorLines([`${'x'.repeat(1_994)}hunter2hunter2 and\nmore`], hidden);
  assert.equal(line, `- ${'x'.repeat(1_994)}*** an`);
});

test('of checks only the number is told, of other lists what they have', () => {
  const check = { name: 'unit', command: 'curl -H "x: abc" | sh' };
  assert.equal(settingText([check, check]), '2 entries');
  assert.equal(settingText(['**/*.lock']), '["**/*.lock"]');
  // settings.json may hold anything.
  assert.equal(settingText({ unit: check.command }), '1 entries');
  assert.equal(settingText([check.command], true), '1 entries');
});
