/**
 * Replaces the native module `@vscode/spdlog` in the headless VS Code: the same exports, but files are written with Node.
 * install.mjs copies it there. The exports are assigned one by one so that ES modules can import them by name.
 */
const fs = require('node:fs');
const path = require('node:path');

const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];

class Logger {
  #file;
  #level = LEVELS.indexOf('info');
  #plain = false;

  constructor(_name, file) {
    this.#file = file;
    fs.mkdirSync(path.dirname(file), { recursive: true });
  }

  #write(level, message) {
    if (level < this.#level) return;
    const line = this.#plain ? message : `${new Date().toISOString()} [${LEVELS[level]}] ${message}\n`;
    try {
      fs.appendFileSync(this.#file, line);
    } catch {
      // The run that owned the folder has deleted it.
    }
  }

  getLevel() {
    return this.#level;
  }
  setLevel(level) {
    this.#level = level;
  }
  clearFormatters() {
    this.#plain = true;
  }
  setPattern() {}
  flush() {}
  drop() {}

  static {
    for (const [level, name] of ['trace', 'debug', 'info', 'warn', 'error', 'critical'].entries())
      this.prototype[name] = function (message) {
        this.#write(level, message);
      };
  }
}

const create = async (name, file) => new Logger(name, file);

exports.version = 0;
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
