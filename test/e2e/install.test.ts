import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { type LocalRegistry, startLocalRegistry } from '../support/local-registry.js';
import { pluginTarball } from '../support/plugin-package.js';

const TOOL = `context.tool({ name: 'roll_back', description: 'Rolls back', input: z.object({}), risk: 'destructive', examples: [], run: async () => 'done', present: { card: () => ({ sentence: 'I roll back.' }) } });`;

describe('!plugin install', () => {
  let registry: LocalRegistry;
  let host: TestHost;
  let dataDir: string;

  before(async () => {
    registry = await startLocalRegistry();
    dataDir = await mkdtemp(join(tmpdir(), 'cinnabar-install-'));
    host = await createTestHost({ plugins: ['admin'], dataDir, env: { npm_config_registry: registry.url } });
    registry.add(pluginTarball({ id: 'dice2', manifest: "permissions: ['ManageGuild']" }));
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** The bot's latest message. */
  const last = () => host.general.messages.filter(({ author }) => author.bot).at(-1);
  const type = async (text: string, who = host.you) => {
    who.say(host.general, text);
    await host.settled();
    return last()?.content ?? '';
  };
  const press = async (label: string) => {
    const message = last();
    if (message === undefined) throw new Error('there is nothing to press');
    host.you.click(message, label);
    await host.settled();
    return last()?.content ?? '';
  };

  const slash = async () => {
    const interaction = host.alice.slash(host.general, 'dice2');
    await host.settled();
    return interaction.messages[0]?.content;
  };

  it('is for the owner of the bot alone', async () => {
    expect(await type('!plugin install cinnabar-plugin-dice2', host.alice)).to.match(/^You may not do that/);
    expect(registry.requests).to.deep.equal([]);
  });

  it('shows what the plugin declares and what the bot lacks, asks, and installs it on a yes', async () => {
    const question = await type('!plugin install cinnabar-plugin-dice2');
    expect(question).to.match(
      /^\*\*dice2\*\* 1\.0\.0: Rolls dice\nFrom: npm package cinnabar-plugin-dice2@1\.0\.0\nAuthor: Judy\nLicence: MIT\nIntegrity: `sha512-/,
    );
    expect(question).to.include('Permissions: Manage Guild');
    expect(question).to.include('Commands: `dice2`');
    expect(question).to.include('⚠️ It runs in the bot’s process and can do whatever the bot can');
    expect(question).to.include('⚠️ Permissions that the bot lacks here: Manage Guild');
    expect(await press('Install it')).to.equal('Installed `dice2` 1.0.0.');
    expect(await type('!dice2')).to.equal('dice2 1.0.0');
    expect(await slash()).to.equal('dice2 1.0.0');
  });

  it('shows what an update newly wants, and asks', async () => {
    registry.add(pluginTarball({ id: 'dice2', version: '1.2.0', setup: TOOL }));
    expect(await type('!plugin updates')).to.equal('• `dice2` 1.0.0: there is 1.2.0');
    expect(await type('!plugin update dice2')).to.include(
      'New in this version:\n⚠️ It has the tool `roll_back` (destructive).',
    );
    expect(await press('Update it')).to.equal('Updated `dice2` from 1.0.0 to 1.2.0.');
    expect(await type('!plugin update dice2')).to.equal('`dice2` is up to date.');
  });

  it('removes a plugin with its slash commands, and keeps its data unless told otherwise', async () => {
    expect(await type('!plugin pin dice2')).to.equal('`dice2` stays at 1.2.0.');
    expect(await type('!plugin update dice2')).to.equal('dice2 is pinned to 1.2.0.');
    await type('!plugin remove dice2');
    expect(await press('Cancel')).to.include('Not done.');
    expect(await type('!dice2')).to.equal('dice2 1.2.0');
    await type('!plugin remove dice2');
    expect(await press('Remove it')).to.equal('Removed `dice2`. Its settings and documents stay.');
    expect(() => host.alice.slash(host.general, 'dice2')).to.throw(/No command "dice2"/);
    expect(await type('!plugin updates')).to.match(/^No plugins are installed/);
  });
});
