/** The programs whose texts are checked: what runs in VS Code, and the page of the chat. */
import * as path from 'node:path';
import ts from 'typescript';
import { inRepo } from '../lib/paths.mjs';

const CONFIGS = [inRepo('tsconfig.json'), inRepo('src', 'views', 'chat', 'webview', 'tsconfig.json')];

/** The places where VS Code and the page show texts are all in `src/views`. */
export const isOfViews = file => isIn(file, inRepo('src', 'views'));

/** The core is given a localiser, and asks it for texts, too. */
export const isOurs = file => isIn(file, inRepo('src'));

function isIn(file, folder) {
  return path.normalize(file).startsWith(folder + path.sep);
}

/**
 * @param {ReadonlyMap<string, string>} [added] files that exist only here, by path
 * @returns {ts.Program[]}
 */
export function viewPrograms(added = new Map()) {
  return CONFIGS.map(config => {
    const { config: json } = ts.readConfigFile(config, ts.sys.readFile);
    const { options, fileNames } = ts.parseJsonConfigFileContent(json, ts.sys, path.dirname(config));
    const inPage = config !== CONFIGS[0];
    const files = [
      ...fileNames.filter(isOfViews),
      ...[...added.keys()].filter(file => file.includes('webview') === inPage),
    ];
    const host = ts.createCompilerHost(options);
    const { getSourceFile, fileExists } = host;
    host.fileExists = file => added.has(file) || fileExists.call(host, file);
    host.getSourceFile = (file, version) =>
      added.has(file)
        ? ts.createSourceFile(file, added.get(file), version, true)
        : getSourceFile.call(host, file, version);
    return ts.createProgram({ rootNames: files, options: { ...options, noEmit: true }, host });
  });
}
