import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';

describe('the JSON Schema of the configuration files', () => {
  it('has the host’s keys and those that plugins declare, with their descriptions', async () => {
    using folder = makeFolder({
      'plugins/weather/index.ts': `import { definePlugin, z } from '@cinnabar/sdk';
export default definePlugin({
  manifest: { id: 'weather', version: '1.0.0', description: 'Weather' },
  configuration: z.object({ city: z.string().describe('Where it rains').default('Oslo') }),
  setup: () => undefined,
});`,
    });
    const { out } = await cinnabar(['schema'], { cwd: folder.path, env: { CINNABAR_PLUGINS: 'plugins' } });
    const { properties } = JSON.parse(out);
    expect(properties).to.include.keys('host', 'settings');
    expect(properties.city).to.deep.equal({ type: 'string', description: 'Where it rains', default: 'Oslo' });
  });

  it('in config/ agrees with the bundled plugins; otherwise run: npx cinnabar schema config/schema.json', async () => {
    using folder = makeFolder();
    const { out, err } = await cinnabar(['schema'], { cwd: folder.path });
    expect(err).to.equal('');
    expect(JSON.parse(readFileSync(join('config', 'schema.json'), 'utf8'))).to.deep.equal(JSON.parse(out));
  });

  it('replaces a file only when all of it can be made: a plugin that cannot be read leaves the file as it was', async () => {
    using folder = makeFolder();
    const file = join(folder.path, 'schema.json');
    writeFileSync(file, 'as it was');
    const broken = join(folder.path, 'plugins', 'broken');
    mkdirSync(broken, { recursive: true });
    writeFileSync(join(broken, 'index.ts'), 'export default {');
    const run = (env = {}) => cinnabar(['schema', file], { cwd: folder.path, env });
    const failed = await run({ CINNABAR_PLUGINS: join(folder.path, 'plugins') });
    expect(failed).to.include({ code: 1, out: '' });
    expect(failed.err).to.include('stays as it is');
    expect(readFileSync(file, 'utf8')).to.equal('as it was');
    expect(await run()).to.include({ code: 0, out: '', err: '' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.have.property('title', 'Configuration of Cinnabar');
  });
});
