// The rules that the compiler does not know: no lost promises, whole switches, and imports that run one way.
import tseslint from 'typescript-eslint';

/** The layers of src, lowest first: a layer imports itself and what stands before it. */
const LAYERS = [
  { name: 'base', files: ['src/agent/base/**'] },
  { name: 'model', files: ['src/agent/model/**'] },
  { name: 'tree', files: ['src/agent/tree/**'] },
  { name: 'preview', files: ['src/agent/preview/**'] },
  { name: 'tools', files: ['src/agent/tools/**'] },
  { name: 'session', files: ['src/agent/session/**'] },
  { name: 'views', files: ['src/views/**'] },
  { name: 'extension', files: ['src/extension.ts'] },
];

/** Packages that one file wraps, so that they load on first use and can be exchanged. */
const WRAPPED = {
  openai: 'src/agent/model/openaiClient.ts',
  diff: 'src/agent/preview/compareLines.ts',
  jiti: 'src/agent/tools/custom/importFile.ts',
  typebox: 'src/agent/tools/custom/parameters.ts',
};

const NAMED_ZOD = {
  selector: "ImportDeclaration[source.value='zod'] > ImportSpecifier[imported.name='z']",
  message: "Write import * as z from 'zod': the named import brings all of zod's languages into the bundle.",
};

const BARE_TOAST = {
  selector: 'MemberExpression[property.name=/^show(Information|Warning|Error)Message$/]',
  message: 'Notifications go through src/views/toast.ts: VS Code runs commands that their text links to.',
};

/** Packages that files of a layer may not import, apart from the file that wraps one. */
const forbidden = file => Object.entries(WRAPPED).filter(([, wrapper]) => wrapper !== file);

/** The import rules of one layer, or of the file in it that wraps a package. */
function importRules(index, file) {
  const above = LAYERS.slice(index + 1);
  const isCore = index < LAYERS.findIndex(({ name }) => name === 'views');
  const packages = forbidden(file);
  return {
    'no-restricted-imports': [
      'error',
      {
        paths: [
          ...packages.map(([name, wrapper]) => ({ name, message: `Only ${wrapper} imports ${name}.` })),
          ...(isCore ? [{ name: 'vscode', message: 'The core does not know the editor.' }] : []),
        ],
        patterns: [
          ...packages.map(([name, wrapper]) => ({
            group: [`${name}/*`],
            message: `Only ${wrapper} imports ${name}.`,
          })),
          ...above.map(({ name }) => ({
            // Of another layer: up and down again. Within the own one a folder may have that name.
            regex: `^(\\.\\./)+(agent/)?${name}(/|\\.ts$)`,
            message: `${LAYERS[index].name} stands below ${name}: imports run ${LAYERS.map(l => l.name).join(' ← ')}.`,
          })),
        ],
      },
    ],
    'no-restricted-syntax': [
      'error',
      NAMED_ZOD,
      ...(isCore ? [] : [BARE_TOAST]),
      ...packages.map(([name, wrapper]) => ({
        selector: `ImportExpression[source.value=/^${name}(\\u002F|$)/]`,
        message: `Only ${wrapper} imports ${name}.`,
      })),
      ...(isCore
        ? [
            {
              selector: "ImportExpression[source.value='vscode']",
              message: 'The core does not know the editor.',
            },
          ]
        : []),
    ],
  };
}

const layers = LAYERS.flatMap(({ files }, index) => [
  { files, rules: importRules(index) },
  ...Object.values(WRAPPED)
    .filter(wrapper => wrapper.startsWith(files[0].replace('**', '')))
    .map(wrapper => ({ files: [wrapper], rules: importRules(index, wrapper) })),
]);

/** The one file that shows notifications. */
const toasts = { files: ['src/views/toast.ts'], rules: { 'no-restricted-syntax': ['error', NAMED_ZOD] } };

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
      // Async for the sake of a signature; methods of object literals that are taken apart.
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
      'no-restricted-syntax': ['error', NAMED_ZOD],
    },
  },
  {
    // What authors of tools read: a type that they choose is any to us.
    files: ['**/*.d.ts'],
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-console': 'error',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    },
  },
  ...layers,
  toasts,
  {
    // node:test's describe and test return promises that the runner itself waits for.
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
    // What runs in a page sees the DOM, whose types the tests do not have.
    files: ['test/ui/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
);
