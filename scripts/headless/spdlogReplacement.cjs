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

  trace(message) {
    this.#write(0, message);
  }
  debug(message) {
    this.#write(1, message);
  }
  info(message) {
    this.#write(2, message);
  }
  warn(message) {
    this.#write(3, message);
  }
  error(message) {
    this.#write(4, message);
  }
  critical(message) {
    this.#write(5, message);
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
}

const create = async (name, file) => new Logger(name, file);

exports.version = 0;
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
