import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createDiscovery, loadConfig } from '@cinnabar/core';
import { loadAll, printSchema, schemaText } from '@cinnabar/core/internal/cli/schema';
import { definePlugin, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

describe('the JSON Schema of the configuration files', () => {
  it('has the host’s keys and those that plugins declare, with their descriptions', () => {
    const plugin = definePlugin({
      manifest: { id: 'weather', version: '1.0.0', description: 'Weather' },
      configuration: z.object({ city: z.string().describe('Where it rains').default('Oslo') }),
      setup: () => undefined,
    });
    const { properties } = JSON.parse(schemaText([plugin]));
    expect(properties).to.include.keys('host', 'settings');
    expect(properties.city).to.deep.equal({ type: 'string', description: 'Where it rains', default: 'Oslo' });
  });

  it('in config/ is that of the bundled plugins; when it is not: npx cinnabar schema config/schema.json', async () => {
    using folder = makeFolder();
    const discover = createDiscovery({ folders: [], packageRoots: [] });
    const { plugins, problems } = await loadAll(discover, folder.path);
    expect(problems).to.deep.equal([]);
    expect(JSON.parse(readFileSync(join('config', 'schema.json'), 'utf8'))).to.deep.equal(
      JSON.parse(schemaText(plugins)),
    );
  });

  it('replaces a file only when all of it can be made: a plugin that cannot be read leaves the file as it was', async () => {
    using folder = makeFolder();
    const file = join(folder.path, 'schema.json');
    writeFileSync(file, 'as it was');
    const broken = join(folder.path, 'plugins', 'broken');
    mkdirSync(broken, { recursive: true });
    writeFileSync(join(broken, 'index.ts'), 'export default {');
    const run = async (env: Readonly<Record<string, string>>) => {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const config = loadConfig(folder.path, { CINNABAR_DATA: join(folder.path, 'data'), ...env }, undefined);
      const code = await printSchema(config, file, { stdout, stderr });
      return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') };
    };
    const failed = await run({ CINNABAR_PLUGINS: join(folder.path, 'plugins') });
    expect(failed).to.include({ code: 1, out: '' });
    expect(failed.err).to.include('stays as it is');
    expect(readFileSync(file, 'utf8')).to.equal('as it was');
    expect(await run({})).to.deep.equal({ code: 0, out: '', err: '' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.have.property('title', 'Configuration of Cinnabar');
  });
});
