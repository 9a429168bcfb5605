import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@cinnabar/core/internal/config/load';
import { CinnabarError } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('the configuration', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cinnabar-config-'));
    mkdirSync(join(root, 'config'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const shared = (text: string) => writeFileSync(join(root, 'config', 'shared.yaml'), text);
  const refusal = (env: Record<string, string> = {}) => {
    try {
      loadConfig(root, env);
    } catch (error) {
      if (error instanceof CinnabarError) return error.message.replaceAll(root, '.');
      throw error;
    }
    throw new Error('it was accepted');
  };

  it('has defaults for everything', () => {
    const config = loadConfig(root, {});
    expect(config.token).to.equal(undefined);
    expect(config.prefixes).to.deep.equal(['!']);
    expect(config.dataDir).to.equal(join(root, 'data'));
    expect(config.logLevel).to.equal('info');
  });

  it('reads shared.yaml, .env and the environment; the environment wins', () => {
    shared("host:\n  prefixes: ['?', '!']\n  logLevel: warn\nsettings:\n  llm:\n    model: some-model\n");
    writeFileSync(join(root, '.env'), 'DISCORD_TOKEN=from-file\nLOG_LEVEL=debug\n');
    const config = loadConfig(root, { LOG_LEVEL: 'error', CINNABAR_DATA: 'elsewhere' });
    expect(config.prefixes).to.deep.equal(['?', '!']);
    expect(config.token).to.equal('from-file');
    expect(config.logLevel).to.equal('error');
    expect(config.dataDir).to.equal(join(root, 'elsewhere'));
    expect(config.presets).to.deep.equal({ llm: { model: 'some-model' } });
  });

  it('takes an empty variable as one that is not set', () => {
    expect(loadConfig(root, { DISCORD_TOKEN: '', DISCORD_API: '' }).token).to.equal(undefined);
  });

  it('names the variable that is wrong, and what would be right', () => {
    expect(refusal({ DISCORD_API: 'localhost' })).to.match(/DISCORD_API must be a URL such as/);
    expect(refusal({ CINNABAR_OWNERS: 'alice' })).to.match(/CINNABAR_OWNERS must be Discord user ids/);
  });

  it('names file, line and key of what is wrong in shared.yaml', () => {
    shared("host:\n  prefixes: ['!']\n  logLevel: loud\n");
    expect(refusal()).to.match(/: config\/shared\.yaml:3: host\.logLevel: /);
    shared('host:\n  prefixs: []\n');
    expect(refusal()).to.match(/: config\/shared\.yaml:2: host\.prefixs: there is no such key/);
    shared('host: [\n');
    expect(refusal()).to.match(/: config\/shared\.yaml:1: it is not valid YAML/);
  });

  it('refuses a bomb of aliases', () => {
    const levels = Array.from({ length: 12 }, (_, n) =>
      n === 0
        ? 'a0: &a0 [x, x]'
        : `a${n}: &a${n} [${Array(9)
            .fill(`*a${n - 1}`)
            .join(', ')}]`,
    );
    shared(levels.join('\n'));
    expect(refusal()).to.match(/shared\.yaml/);
  });
});
