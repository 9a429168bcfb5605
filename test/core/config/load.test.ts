import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@cinnabar/core';
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

  it('keeps data in files, or in the PostgreSQL that DATABASE_URL or storage names', () => {
    const url = 'postgres://v:swordfish@db/city';
    expect(loadConfig(root, {}).storage).to.equal(undefined);
    expect(loadConfig(root, { DATABASE_URL: url }).storage).to.deep.equal({ url, schema: 'cinnabar', poolSize: 8 });
    shared('storage:\n  url: postgres://elsewhere/city\n  poolSize: 3\n  ssl: verify\n');
    expect(loadConfig(root, {}).storage).to.include({ url: 'postgres://elsewhere/city', poolSize: 3, ssl: 'verify' });
    expect(loadConfig(root, { DATABASE_URL: url }).storage?.url).to.equal(url);
    shared('storage:\n  kind: files\n');
    expect(loadConfig(root, { DATABASE_URL: url }).storage).to.equal(undefined);
    shared('storage:\n  kind: postgres\n');
    expect(refusal()).to.match(/no database is named: set DATABASE_URL/);
    expect(refusal({ DATABASE_URL: 'mysql://v:swordfish@db/city' })).to.match(/DATABASE_URL must begin with postgres/);
  });

  it('gives each bot tables of its own', () => {
    const schemaOf = (bot: string) =>
      loadConfig(root, { DATABASE_URL: 'postgres://db/city', BOT_NAME: bot }).storage?.schema;
    expect(schemaOf('claude')).to.equal('cinnabar_claude');
    const odd = ['My.Bot', 'my-bot', 'my_bot'].map(schemaOf);
    expect(new Set(odd).size).to.equal(3);
    for (const name of odd) expect(name).to.match(/^[a-z_][a-z0-9_]{0,39}$/);
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
    expect(refusal()).to.match(/: config\/shared\.yaml:\d: it is not valid YAML/);
  });

  it('refuses a start with any file that may apply somewhere and cannot be read', () => {
    mkdirSync(join(root, 'config', 'guilds'));
    writeFileSync(join(root, 'config', 'guilds', '123456789012345678.yaml'), 'mode: chat\nmode: prefill\n');
    expect(refusal()).to.match(/: config\/guilds\/123456789012345678\.yaml:2: the key "mode" is there twice/);
  });

  it('leaves keys of plugins to the plugins', () => {
    shared('mode: chat\nhost:\n  prefixes: ["?"]\n');
    expect(loadConfig(root, {}).prefixes).to.deep.equal(['?']);
  });

  it('takes an empty key as one that is not there', () => {
    shared('host:\nsettings:\n');
    expect(loadConfig(root, {}).presets).to.deep.equal({});
  });

  it('knows the folders by both of their names', () => {
    const config = loadConfig(root, { CONFIG_PATH: 'elsewhere', CACHE_PATH: 'cached' });
    expect(config.configDir).to.equal(join(root, 'elsewhere'));
    expect(config.cacheDir).to.equal(join(root, 'cached'));
    expect(config.buildCacheDir).to.equal(config.cacheDir);
    expect(loadConfig(root, { CONFIG_PATH: 'one', CINNABAR_CONFIG: 'other' }).configDir).to.equal(join(root, 'other'));
  });

  describe('of one bot of several', () => {
    it('is chosen by the command line, else by BOT_NAME, in the environment or in .env', () => {
      expect(loadConfig(root, {}).botName).to.equal(undefined);
      expect(loadConfig(root, { BOT_NAME: 'claude' }).botName).to.equal('claude');
      expect(loadConfig(root, { BOT_NAME: 'claude' }, 'opus').botName).to.equal('opus');
      writeFileSync(join(root, '.env'), 'BOT_NAME=haiku\n');
      expect(loadConfig(root, {}).botName).to.equal('haiku');
    });

    it('stops the start when bots have files and `--bot nosuchbot` has none', () => {
      mkdirSync(join(root, 'config', 'bots'));
      writeFileSync(join(root, 'config', 'bots', 'claude.yaml'), 'temperature: 1\n');
      expect(loadConfig(root, {}, 'claude').botName).to.equal('claude');
      expect(() => loadConfig(root, {}, 'nosuchbot')).to.throw(/no bot called nosuchbot: config\/bots has claude/);
      writeFileSync(join(root, '.env.nosuchbot'), 'LOG_LEVEL=info\n');
      expect(loadConfig(root, {}, 'nosuchbot').botName).to.equal('nosuchbot');
    });

    it('keeps data, logs and caches of its own', () => {
      const claude = loadConfig(root, { CACHE_PATH: 'cache' }, 'claude');
      const opus = loadConfig(root, { CACHE_PATH: 'cache' }, 'opus');
      expect(claude.dataDir).to.equal(join(root, 'data', 'bots', 'claude'));
      for (const folder of ['dataDir', 'logDir', 'cacheDir'] as const)
        expect(claude[folder]).not.to.equal(opus[folder]);
    });

    it('shares what is built with the others, where a folder is named for it', () => {
      const folders = { CACHE_PATH: 'cache', BUILD_CACHE_PATH: 'built' };
      for (const bot of ['claude', 'opus'])
        expect(loadConfig(root, folders, bot).buildCacheDir).to.equal(join(root, 'built'));
    });

    it('has a .env of its own, which wins over the common one', () => {
      writeFileSync(join(root, '.env'), 'DISCORD_TOKEN=common\nOPENAI_API_KEY=key\n');
      writeFileSync(join(root, '.env.claude'), 'DISCORD_TOKEN=of-claude\n');
      expect(loadConfig(root, {}, 'claude').token).to.equal('of-claude');
      expect(loadConfig(root, {}, 'claude').env.OPENAI_API_KEY).to.equal('key');
      expect(loadConfig(root, {}).token).to.equal('common');
      expect(loadConfig(root, { DISCORD_TOKEN: 'environment' }, 'claude').token).to.equal('environment');
    });

    it('has a name that can do no mischief in a path', () => {
      for (const name of [
        '../evil',
        'a/b',
        '..',
        '.',
        '',
        '-x',
        'x.',
        'a b',
        'claude-123456789012345678',
        'x'.repeat(33),
      ]) {
        expect(() => loadConfig(root, {}, name), name).to.throw(CinnabarError, /--bot must/);
      }
      expect(refusal({ BOT_NAME: '../evil' })).to.match(/BOT_NAME must be 1 to 32 letters, digits/);
      for (const name of ['claude', 'Claude-3.5', 'a', 'x_1'])
        expect(loadConfig(root, {}, name).botName).to.equal(name);
    });

    it('has prefixes, owners, log level, plugins and monitoring of its own, which win over shared.yaml key by key', () => {
      mkdirSync(join(root, 'config', 'bots'));
      shared("host:\n  prefixes: ['!', '~']\n  logLevel: warn\n  plugins: { folders: [more], disabled: [party] }\n");
      const own = (text: string) => writeFileSync(join(root, 'config', 'bots', 'claude.yaml'), text);
      own(
        "temperature: 1\nhost:\n  prefixes: ['?', '!']\n  plugins: { disabled: [relay] }\n  monitoring: { listen: 9464 }\n",
      );
      const claude = loadConfig(root, {}, 'claude');
      expect(claude).to.deep.include({ prefixes: ['?', '!'], ownPrefixes: ['?'], logLevel: 'warn' });
      expect(claude.disabledPlugins).to.deep.equal(['relay']);
      expect(claude.pluginFolders).to.deep.equal([join(root, 'more')]);
      expect(claude.monitoring?.port).to.equal(9464);
      expect(loadConfig(root, {})).to.deep.include({ prefixes: ['!', '~'], ownPrefixes: [], monitoring: undefined });

      const refused: Readonly<Record<string, RegExp>> = {
        'a: 1\nhost:\n  discordApi: http://127.0.0.1:1\n':
          /claude\.yaml:3: host\.discordApi: belongs in shared\.yaml: /,
        'host:\n  plugins:\n    folders: []\n': /claude\.yaml:3: host\.plugins\.folders: belongs in shared\.yaml: /,
        'settings:\n  llm: { model: x }\n': /claude\.yaml:1: settings: belongs in shared\.yaml: /,
        'host:\n  prefixs: []\n': /claude\.yaml:2: host\.prefixs: there is no such key/,
        'host:\n  prefixes: []\n': /claude\.yaml:2: host\.prefixes: /,
      };
      for (const [text, sentence] of Object.entries(refused)) {
        own(text);
        expect(() => loadConfig(root, {}, 'claude'), text).to.throw(CinnabarError, sentence);
      }
    });

    it('does not mind mistakes in the files of the others', () => {
      mkdirSync(join(root, 'config', 'bots'));
      writeFileSync(join(root, 'config', 'bots', 'opus.yaml'), 'a: [\n');
      writeFileSync(join(root, 'config', 'bots', 'claude.yaml'), 'temperature: 1\n');
      expect(loadConfig(root, {}, 'claude').botName).to.equal('claude');
      expect(() => loadConfig(root, {}, 'opus')).to.throw(CinnabarError, /config\/bots\/opus\.yaml:\d: /);
    });
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
