import type { Plugin } from '@cinnabar/sdk';
import { expect } from 'chai';
import { loadPlugins, wrongBlocks } from './support/data.js';
import { readPage } from './support/markdown.js';
import { expectNone, readPages } from './support/pages.js';

describe('blocks on the pages', function () {
  this.timeout(60_000);
  let plugins: readonly Plugin[] = [];
  before(async () => {
    plugins = await loadPlugins();
  });

  it('say what they are, and data in them are what the bot takes', () => {
    expectNone(readPages().flatMap((page) => wrongBlocks(page, plugins)));
  });

  describe('of a page that is wrong', () => {
    const complaints = (language: string, body: string, before = 'Words.') =>
      wrongBlocks(readPage('docs/bad.md', `${before}\n\n\`\`\`${language}\n${body}\n\`\`\``), plugins).map(
        ({ line, text }) => `${line}: ${text}`,
      );

    it('are found without a language, and with one that nothing checks', () => {
      expect(complaints('', 'x')[0]).to.match(/^3: Say behind the fence what this is: ts, console, /);
      expect(complaints('js', 'x')[0]).to.match(/^3: Nothing checks blocks of `js`: use one of ts, /);
    });

    it('are found when code poses as text', () => {
      expect(complaints('text', 'user  hello\nprinted')).to.deep.equal([]);
      expect(complaints('text', 'One\nnpm start')[0]).to.match(
        /^5: `text` is for what something else than the bot prints/,
      );
      expect(complaints('text', '!help')).to.have.length(1);
    });

    it('are found in a configuration', () => {
      expect(
        complaints('yaml', '# config/shared.yaml\nhost:\n  logLevel: debug\nsettings:\n  llm: { model: x }'),
      ).to.deep.equal([]);
      expect(complaints('yaml', '# config/shared.yaml\nhost:\n  loglevel: debug')[0]).to.match(/^6: .*host\.loglevel/);
      expect(complaints('yaml', 'hosts: 1', 'In `config/shared.yaml`:')[0]).to.match(/^4: There is no key hosts in /);
      expect(complaints('yaml', '# config/shared.yaml\nbudgets:\n  guild: { usdPerDay: much }')[0]).to.match(
        /^6: budgets\.guild\.usdPerDay: /,
      );
      expect(complaints('yaml', '# config/shared.yaml\nsettings:\n  llm: { modell: x }')[0]).to.match(
        /^6: llm has no such setting here/,
      );
    });

    it('are found in a file of a guild', () => {
      expect(complaints('yaml', '# server.yaml\nplugins: { party: on }')).to.deep.equal([]);
      expect(complaints('yaml', '# server.yaml\nplugins: { partie: on }')[0]).to.match(
        /^5: There is no plugin partie; /,
      );
      expect(complaints('yaml', '# server.yaml\nsettings:\n  confirm: { timeLimit: 5 }')[0]).to.match(
        /^6: timeLimit of confirm: /,
      );
      expect(complaints('yaml', '# server.yaml\nplugin: {}')).to.have.length(1);
    });

    it('are found where YAML and JSON cannot be read, and where nothing says which file it is', () => {
      expect(complaints('yaml', '# config/shared.yaml\nhost: [')).to.have.length(1);
      expect(complaints('yaml', 'a: 1')[0]).to.match(/^4: Say in a first line which file this is/);
      expect(complaints('json', '{ "a": }')[0]).to.match(/^4: This is no JSON: /);
      expect(complaints('json', '{ "format": 2 }', 'A registry file:')[0]).to.match(/^4: format: /);
    });

    it('are found where they are no part of the file that they show', () => {
      expect(complaints('ini', '[Service]\n…\nRestart=on-failure')).to.deep.equal([]);
      expect(complaints('ini', '[Service]\nRestart=always')[0]).to.match(
        /^5: config\/systemd\/cinnabar\.service has no such line here/,
      );
      expect(complaints('ini', 'Restart=always', 'Change a line:')).to.deep.equal([]);
      expect(complaints('ini', 'Restarts=always', 'Change a line:')[0]).to.match(
        /^4: .* has no line Restarts= to change/,
      );
      expect(complaints('dockerfile', 'FROM node:24-bookworm-slim AS base\nUSER root')[0]).to.match(
        /^5: Dockerfile has no/,
      );
      expect(complaints('yaml', '# compose.yaml\nservices:\n  bot:\n    restart: always')[0]).to.match(
        /^7: compose\.yaml has no/,
      );
    });

    it('are found where they set a variable that there is not', () => {
      expect(complaints('env', '# secrets\nDISCORD_TOKEN=…\nCINNABAR_NOSUCH=1')).to.deep.equal([
        '6: There is no variable CINNABAR_NOSUCH: docs/reference/environment.md has those that there are.',
      ]);
    });
  });
});
