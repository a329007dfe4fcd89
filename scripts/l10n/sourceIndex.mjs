/** What the sources show, and which values get into their declarations. */
import ts from 'typescript';
import {
  SHOWN_ARGUMENTS,
  SHOWN_BY_COMMANDS,
  SHOWN_IN_PAGE,
  SHOWN_PROPERTIES,
  SHOWN_WHEN_MADE,
} from './shownTexts.mjs';

export class SourceIndex {
  /** The values that are shown as they are written, with their places. @type {{ value: ts.Node, place: string }[]} */
  shown = [];
  /** The texts that templates of the page contain as they are. @type {{ node: ts.Node, at: number, text: string, place: string }[]} */
  written = [];
  #checker;
  #isOurs;
  /** By declaration of a property, parameter or variable of ours: what it is given. */
  #values = new Map();

  /**
   * @param {ts.Program} program
   * @param {(file: string) => boolean} isOurs
   */
  constructor(program, isOurs) {
    this.#checker = program.getTypeChecker();
    this.#isOurs = isOurs;
    for (const source of program.getSourceFiles())
      if (!source.isDeclarationFile && isOurs(source.fileName)) this.#visit(source);
  }

  valuesOf(declaration) {
    return this.#values.get(declaration) ?? [];
  }

  /** Whether a call is one of `l10n.t`. */
  isLocalised({ expression: callee }) {
    return (
      ts.isPropertyAccessExpression(callee) &&
      callee.name.text === 't' &&
      /\bl10n$/.test(callee.expression.getText())
    );
  }

  /** The function of ours that a call runs. */
  functionOf(call) {
    const { declaration } = this.#checker.getResolvedSignature(call) ?? {};
    return declaration && 'body' in declaration && this.#isOurDeclaration(declaration)
      ? declaration
      : undefined;
  }

  /** What a function returns. */
  resultsOf(callable) {
    const { body } = callable;
    if (!body) return [];
    if (!ts.isBlock(body)) return [body];
    const results = [];
    const visit = node => {
      if (ts.isReturnStatement(node) && node.expression) results.push(node.expression);
      if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
    };
    ts.forEachChild(body, visit);
    return results;
  }

  /** The declarations of ours that a name stands for. */
  declarationsOf(node) {
    let symbol = ts.isShorthandPropertyAssignment(node.parent)
      ? this.#checker.getShorthandAssignmentValueSymbol(node.parent)
      : this.#checker.getSymbolAtLocation(ts.isPropertyAccessExpression(node) ? node.name : node);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = this.#checker.getAliasedSymbol(symbol);
    return (symbol?.declarations ?? [])
      .flatMap(one => this.#unbound(one))
      .filter(one => this.#isOurDeclaration(one));
  }

  /** For `{ label }` of an object, the property of the object's type. */
  #unbound(declaration) {
    if (!ts.isBindingElement(declaration)) return [declaration];
    const { parent, name, propertyName = name } = declaration;
    if (!ts.isObjectBindingPattern(parent) || !ts.isIdentifier(propertyName)) return [];
    return this.#checker.getTypeAtLocation(parent).getProperty(propertyName.text)?.declarations ?? [];
  }

  #isOurDeclaration(declaration) {
    const source = declaration.getSourceFile();
    return !source.isDeclarationFile && this.#isOurs(source.fileName);
  }

  #visit(node) {
    if (ts.isObjectLiteralExpression(node)) this.#object(node);
    else if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'html') this.#template(node);
    else if (ts.isCallExpression(node) || ts.isNewExpression(node)) this.#call(node);
    else if (ts.isBinaryExpression(node)) this.#assignment(node);
    else if (
      (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) || ts.isParameter(node)) &&
      node.initializer
    )
      this.#add(node, node.initializer);
    else if (ts.isGetAccessor(node)) for (const result of this.resultsOf(node)) this.#add(node, result);
    ts.forEachChild(node, child => this.#visit(child));
  }

  #object(node) {
    const type = this.#checker.getContextualType(node);
    if (!type) return;
    const types = type.isUnion() ? type.types : [type];
    for (const property of node.properties) {
      if (!property.name || ts.isComputedPropertyName(property.name)) continue;
      const value = ts.isPropertyAssignment(property)
        ? property.initializer
        : ts.isShorthandPropertyAssignment(property)
          ? property.name
          : property;
      for (const each of types)
        for (const declaration of each.getProperty(property.name.text)?.declarations ?? [])
          this.#give(declaration, value);
    }
  }

  /** A template of lit: its text and the attributes that are shown, each as it is written or with a value. */
  #template({ template }) {
    const spans = ts.isTemplateExpression(template) ? template.templateSpans : [];
    const literals = ts.isTemplateExpression(template)
      ? [template.head, ...spans.map(one => one.literal)]
      : [template];
    /** The tag that is being read, up to where a value stands; empty in text. */
    let tag = '';
    const write = (node, at, text, place) =>
      this.written.push({ node, at: at + text.search(/\S|$/), text, place });
    literals.forEach((node, i) => {
      let at = node.getStart() + 1;
      for (const piece of node.text.split(/(?<=>)|(?=<)/)) {
        const inTag = tag !== '' || piece.startsWith('<');
        if (!inTag) write(node, at, piece, 'text of a template');
        tag = inTag && !piece.endsWith('>') ? tag + piece : '';
        if (inTag)
          for (const { 1: name, 2: text, index } of piece.matchAll(/([\w-]+)="([^"]*)/g))
            if (SHOWN_IN_PAGE.attributes.includes(name)) write(node, at + index, text, name);
        at += piece.length;
      }
      const span = spans[i];
      if (!span) return;
      const attribute = /([@?.\w-]+)=(?:"[^"]*)?$/.exec(tag)?.[1];
      const place = tag === '' ? 'text of a template' : attribute;
      if (tag === '' || SHOWN_IN_PAGE.attributes.includes(attribute))
        this.shown.push({ value: span.expression, place });
    });
  }

  #assignment({ operatorToken: { kind }, left, right }) {
    if (kind !== ts.SyntaxKind.EqualsToken && kind !== ts.SyntaxKind.PlusEqualsToken) return;
    const name = ts.isPropertyAccessExpression(left) ? left.name : left;
    for (const declaration of this.#checker.getSymbolAtLocation(name)?.declarations ?? [])
      this.#give(declaration, right);
  }

  #call(node) {
    const given = [...(node.arguments ?? [])];
    const signature = this.#checker.getResolvedSignature(node);
    const parameters = signature?.parameters ?? [];
    given.forEach((value, i) => {
      const declaration = (parameters[i] ?? parameters.at(-1))?.valueDeclaration;
      if (declaration && ts.isParameter(declaration) && (i < parameters.length || declaration.dotDotDotToken))
        this.#add(declaration, value);
    });
    for (const [place, indexes] of this.#shownArguments(node, signature?.declaration))
      for (const i of indexes)
        for (const value of i < 0 ? given : given.slice(i, i + 1)) this.shown.push({ value, place });
  }

  /** Which arguments of a call are shown, by where. */
  #shownArguments(node, declaration) {
    if (!declaration) return [];
    const owner = ownerOf(declaration);
    const method = declaration.name?.text ?? '';
    if (isOfPage(declaration)) {
      const [name] = node.arguments ?? [];
      if (method === 'setAttribute')
        return ts.isStringLiteralLike(name) && SHOWN_IN_PAGE.attributes.includes(name.text)
          ? [[name.text, [1]]]
          : [];
      return SHOWN_IN_PAGE.methods.includes(method) ? [[method, [-1]]] : [];
    }
    if (!isOfVscode(declaration)) return [];
    if (ts.isNewExpression(node))
      return owner in SHOWN_WHEN_MADE ? [[`new ${owner}`, SHOWN_WHEN_MADE[owner]]] : [];
    const place = `${owner}.${method}`;
    const command = place === 'commands.executeCommand' ? node.arguments[0]?.text : undefined;
    if (command in SHOWN_BY_COMMANDS) return [[command, SHOWN_BY_COMMANDS[command].map(i => i + 1)]];
    return place in SHOWN_ARGUMENTS ? [[place, SHOWN_ARGUMENTS[place]]] : [];
  }

  /** A property or a variable gets a value. */
  #give(declaration, value) {
    this.#add(declaration, value);
    const name = declaration.name?.text;
    const owner = ownerOf(declaration);
    const isShown = isOfVscode(declaration)
      ? SHOWN_PROPERTIES[owner]?.includes(name)
      : isOfPage(declaration) && SHOWN_IN_PAGE.properties.includes(name);
    if (isShown) this.shown.push({ value, place: `${owner}.${name}` });
  }

  #add(declaration, value) {
    const values = this.#values.get(declaration);
    if (values) values.push(value);
    else this.#values.set(declaration, [value]);
  }
}

/** The interface, class or namespace that a declaration belongs to. */
function ownerOf({ parent }) {
  for (let node = parent; node; node = node.parent)
    if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || ts.isModuleDeclaration(node))
      return node.name?.text ?? '';
  return '';
}

function isOfVscode(declaration) {
  return /@types\/vscode\/index\.d\.ts$/.test(declaration.getSourceFile().fileName);
}

function isOfPage(declaration) {
  return /\/lib\.dom(?:\.\w+)?\.d\.ts$/.test(declaration.getSourceFile().fileName);
}
