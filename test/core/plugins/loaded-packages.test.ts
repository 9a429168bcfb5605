import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';

/** Clients and servers, each of which takes tenths of a second to load, and may never be needed. */
const WHEN_NEEDED =
  /node_modules\/(?:openai|@anthropic-ai|@google\/genai|@modelcontextprotocol|@letta-ai|fastify|@fastify\/cookie|pg|tar)\//;

/** Starts a bot with all bundled plugins, and prints the files and packages that it loaded. */
const SCRIPT = `
import Module from 'node:module';
const asked = new Set();
const load = Module._load;
Module._load = (request, ...rest) => {
  asked.add(request);
  return Reflect.apply(load, Module, [request, ...rest]);
};
const { readdirSync } = await import('node:fs');
const { createTestHost } = await import('@cinnabar/core/testing');
const host = await createTestHost({ plugins: readdirSync('plugins') });
process.stdout.write(JSON.stringify([...asked]));
await host[Symbol.asyncDispose]();
process.exit(0);
`;

describe('a start with all bundled plugins', () => {
  it('loads no client of a service and no server that is not needed', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT]);
    const asked: unknown = JSON.parse(stdout);
    expect(String(asked)).to.include('node_modules/croner/');
    expect(Array.isArray(asked) ? asked.filter((name) => WHEN_NEEDED.test(String(name))) : asked).to.deep.equal([]);
  });

  it('begins the thread of its watchdog without a package', async () => {
    const thread = fileURLToPath(import.meta.resolve('@cinnabar/core/internal/process/watchdog-thread'));
    const { metafile } = await build({
      entryPoints: [thread],
      bundle: true,
      format: 'esm',
      platform: 'node',
      write: false,
      metafile: true,
    });
    const loaded = Object.keys(metafile.inputs);
    expect(loaded.join()).to.include('process/signals.js');
    expect(loaded.filter((path) => path.includes('node_modules/'))).to.deep.equal([]);
  });
});
