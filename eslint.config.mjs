// What the compiler does not check: no floating promises, exhaustive switches, and imports that go one way.
import tseslint from 'typescript-eslint';
import { BARE_TEXTS } from './scripts/l10n/bareTexts.mjs';
import { floors } from './scripts/lib/floors.mjs';

/** Packages that only one file may import, or a few, so that they load on first use and can be replaced. Types may be imported anywhere. */
const WRAPPED = {
  openai: 'src/agent/session/model/openai/client.ts',
  diff: 'src/agent/hold/text/compareLines.ts',
  'iconv-lite': 'src/agent/hold/text/encodings.ts',
  ignore: 'src/agent/session/tools/ast/scope/ignoreRules.ts',
  jiti: 'src/agent/session/tools/custom/loading/importFile.ts',
  typebox: 'src/agent/session/tools/custom/loading/parameters.ts',
  '@modelcontextprotocol/server': ['src/agent/clients/mcp/sdk.ts', 'src/agent/clients/stdio/bridge.ts'],
  // Custom tools get the whole of zod; everything else uses its small build, zod/mini.
  zod: 'src/agent/session/tools/custom/loading/parameters.ts',
};

const BARE_TOAST = {
  selector: 'MemberExpression[property.name=/^show(Information|Warning|Error)Message$/]',
  message:
    'Show notifications with src/views/toast.ts: VS Code turns command links in their text into links that run.',
};

/** The packages that a file may not import: all wrapped ones but its own. */
const forbiddenIn = file => Object.entries(WRAPPED).filter(([, wrapper]) => ![wrapper].flat().includes(file));

/** The import rules of a file: those of its room, but for the package that it wraps. */
function importRules(isCore, file) {
  const packages = forbiddenIn(file);
  return {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        paths: [
          ...packages.map(([name, wrapper]) => ({
            name,
            message: `Only ${wrapper} imports ${name}.`,
            allowTypeImports: true,
          })),
          ...(isCore ? [{ name: 'vscode', message: 'The core (src/agent) runs without VS Code.' }] : []),
        ],
        patterns: [
          ...packages
            .filter(([name]) => name !== 'zod')
            .map(([name, wrapper]) => ({
              group: [`${name}/*`],
              message: `Only ${wrapper} imports ${name}.`,
              allowTypeImports: true,
            })),
          { group: ['lit-html/directives/unsafe-*'], message: 'What the chat shows is text, never HTML.' },
        ],
      },
    ],
    'no-restricted-syntax': [
      'error',
      { selector: 'SpreadElement > ObjectExpression', message: 'Write its properties without the spread.' },
      ...(isCore ? [] : [BARE_TOAST, ...BARE_TEXTS]),
      ...packages.map(([name, wrapper]) => ({
        selector: `ImportExpression[source.value=/^${name.replaceAll('/', '\\u002F')}(\\u002F|$)/]`,
        message: `Only ${wrapper} imports ${name}.`,
      })),
      ...(isCore
        ? [
            {
              selector: "ImportExpression[source.value='vscode']",
              message: 'The core (src/agent) runs without VS Code.',
            },
          ]
        : []),
    ],
  };
}

const imports = [
  { files: ['src/agent/**'], rules: importRules(true) },
  { files: ['src/views/**', 'src/extension.ts'], rules: importRules(false) },
  ...Object.values(WRAPPED)
    .flat()
    .map(wrapper => ({
      files: [wrapper],
      rules: importRules(wrapper.startsWith('src/agent/'), wrapper),
    })),
  { files: ['src/**/*.ts'], plugins: { rooms: { rules: { floors } } }, rules: { 'rooms/floors': 'error' } },
];

/** The only file that shows notifications. */
const toasts = { files: ['src/views/toast.ts'], rules: { 'no-restricted-syntax': 'off' } };

export default tseslint.config(
  { ignores: ['dist/', 'out/', '.vscode-test/', '.bench/', 'examples/', 'test/fixtures/', 'node_modules/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // Functions are async to fit a signature; methods of object literals are passed around.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['**/*.{ts,mjs,cjs}'],
    rules: {
      eqeqeq: ['error', 'always'],
      'no-sequences': ['error', { allowInParentheses: false }],
      'prefer-const': 'error',
      'no-var': 'error',
      'no-control-regex': 'error',
    },
  },
  {
    // The API for authors of tools: where they choose the type, ours is any.
    files: ['**/*.d.ts'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
  },
  {
    files: ['src/**/*.ts', 'scripts/**/*.{mjs,cjs}'],
    rules: { 'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }] },
  },
  { files: ['src/**/*.ts'], rules: { 'no-console': 'error' } },
  ...imports,
  toasts,
  {
    // The runner waits for the promises that these functions return.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['test', 'describe', 'suite', 'it'] },
          ],
        },
      ],
    },
  },
  {
    // Code that runs in the page uses the DOM, whose types the tests do not have.
    files: ['test/ui/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
