/** The types of docs/api.md: those of the exported API, from src/views/api.ts, with all types that they mention. */
import prettier from 'prettier';
import ts from 'typescript';
import { inRepo } from '../lib/paths.mjs';

const SOURCE = inRepo('src', 'views', 'api.ts');

/** Types whose form is not part of the API. */
const OPAQUE = {
  Preview: `/** A preview as Redline stores it. Other extensions read it with \`previews.get(id)\`. */
export interface Preview { readonly id: string }`,
};

/** @returns {Promise<string>} a block of markdown */
export async function apiTypes() {
  const parsed = ts.getParsedCommandLineOfConfigFile(inRepo('tsconfig.json'), {}, ts.sys);
  const writer = new TypeWriter(ts.createProgram([SOURCE], parsed.options));
  writer.write('RedlineApi');
  const head =
    "import type * as vscode from 'vscode';\nimport type { CustomToolFactory } from './redline.d.ts';\n";
  const options = await prettier.resolveConfig(SOURCE);
  const code = await prettier.format(`${head}\n${writer.texts.join('\n\n')}`, {
    ...options,
    parser: 'typescript',
  });
  return `\`\`\`ts\n${code}\`\`\`\n`;
}

/** Writes declarations of a program, each once, those that mention a type before the type. */
class TypeWriter {
  /** @type {string[]} */
  texts = [];
  #checker;
  #source;
  #written = new Set();

  /** @param {ts.Program} program */
  constructor(program) {
    this.#checker = program.getTypeChecker();
    this.#source = program.getSourceFile(SOURCE);
  }

  /** @param {string} name a type that the API's file exports */
  write(name) {
    const module = this.#checker.getSymbolAtLocation(this.#source);
    const waiting = [this.#checker.getExportsOfModule(module).find(symbol => symbol.name === name)];
    for (let symbol = waiting.shift(); symbol; symbol = waiting.shift()) {
      if (this.#written.has(symbol.name)) continue;
      this.#written.add(symbol.name);
      if (OPAQUE[symbol.name]) this.texts.push(OPAQUE[symbol.name]);
      else waiting.push(...this.#writeOne(symbol));
    }
  }

  /** @returns {ts.Symbol[]} the types that the declaration mentions */
  #writeOne(symbol) {
    const [declaration] = symbol.declarations;
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const doc = docOf(declaration);
    if (isWritten(declaration)) {
      this.texts.push(`${doc}${exported(declaration.getText())}`);
      return this.#mentioned(declaration);
    }
    if (isUnionOfTexts(type)) {
      this.texts.push(
        `${doc}export type ${symbol.name} = ${type.types.map(each => `'${each.value}'`).join(' | ')};`,
      );
      return [];
    }
    const parts = this.#checker.getPropertiesOfType(type).map(property => this.#member(property));
    this.texts.push(`${doc}export interface ${symbol.name} {\n${parts.map(part => part.text).join('\n')}\n}`);
    return parts.flatMap(part => part.mentioned);
  }

  /** A property of a type that is computed from another one, such as `Omit<…>`. */
  #member(property) {
    const declaration = property.declarations?.[0];
    if (declaration && ts.isPropertySignature(declaration))
      return { text: docOf(declaration) + declaration.getText(), mentioned: this.#mentioned(declaration) };
    const type = this.#checker.getTypeOfSymbol(property);
    const text = this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
    const optional = property.flags & ts.SymbolFlags.Optional ? '?' : '';
    return { text: `${docOf(declaration)}readonly ${property.name}${optional}: ${text};`, mentioned: [] };
  }

  /** The types of this project that a node mentions, without those of custom tools, which have a file of their own. */
  #mentioned(node) {
    const found = [];
    const visit = child => {
      const name = ts.isTypeReferenceNode(child)
        ? child.typeName
        : ts.isExpressionWithTypeArguments(child)
          ? child.expression
          : undefined;
      const symbol = name && this.#checker.getSymbolAtLocation(name);
      if (symbol)
        found.push(symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol);
      child.forEachChild(visit);
    };
    visit(node);
    const isOurs = ({ declarations: [declaration] = [] }) => {
      const file = declaration?.getSourceFile().fileName;
      return file?.startsWith(inRepo('src'));
    };
    return found.filter(isOurs);
  }
}

/** Whether a declaration is complete in itself, instead of computed from types that are not shown. */
function isWritten(declaration) {
  if (ts.isInterfaceDeclaration(declaration)) return !declaration.heritageClauses;
  const { type } = declaration;
  const isComputed = node =>
    ts.isTypeOperatorNode(node) ||
    ts.isIndexedAccessTypeNode(node) ||
    ts.isTypeQueryNode(node) ||
    (ts.isTypeReferenceNode(node) &&
      ['Omit', 'Pick', 'Exclude', 'Extract', 'DeepReadonly', 'z.infer'].includes(node.typeName.getText())) ||
    (ts.isIntersectionTypeNode(node) && node.types.some(isComputed));
  return !isComputed(type);
}

function isUnionOfTexts(type) {
  return type.isUnion() && type.types.every(each => each.isStringLiteral());
}

const exported = text => (text.startsWith('export ') ? text : `export ${text}`);

/** The last documentation comment before a declaration, with its line break, or nothing. */
function docOf(declaration) {
  const comment = declaration?.jsDoc?.at(-1)?.getText();
  return comment === undefined ? '' : `${comment}\n`;
}
