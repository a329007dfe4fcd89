/**
 * Rules of `no-restricted-syntax` against texts that people read and that no translation has: words in the places of VS Code's
 * interface and of pages where they are usually written. A text may take another way to the screen, which a reader finds.
 */
const WORD = String.raw`/^(?!Redline$|redline\.).*[A-Za-z]{3}/`;
const SHOWN =
  '/^(title|tooltip|placeHolder|placeholder|prompt|label|detail|description|ariaLabel|textContent|innerText)$/';
const inHtml = text => `TaggedTemplateExpression[tag.name='html'] TemplateElement[value.raw=/${text}/]`;

export const BARE_TEXTS = [
  `CallExpression[callee.name=/^(show(Info|Warning|Error)|confirm|choose)$/] > Literal[value=${WORD}]`,
  `Property[key.name=${SHOWN}] > Literal.value[value=${WORD}]`,
  `AssignmentExpression[left.property.name=${SHOWN}] > Literal.right[value=${WORD}]`,
  inHtml('(^|>)[^<]*[A-Za-z]{3}[^<>="]*(<|$)'),
  inHtml('(title|aria-label|placeholder)="[^"]*[A-Za-z]{3}'),
].map(selector => ({ selector, message: 'People read this text: it goes through l10n.t.' }));
