import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { callTool, type ModelStep, say, scriptedLlm } from '@cinnabar/local-models';
import { type CollectionDefinition, definePlugin, PersonalDataStore, type Plugin, Tasks, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';

const MARK = 'xylophone';
const ROOT = new URL('../../../', import.meta.url);
/** The places in which this test stores data of a member. */
const PLANTED = [
  'accounts',
  'admin',
  'ai',
  'automod',
  'chat',
  'confirm',
  'custom',
  'discord-tools',
  'logging',
  'mcp',
  'moderation',
  'party',
  'persona',
  'relay',
  'reminders',
  'roles',
  'tasks',
  'welcome',
];
/** Plugins that the scripted model replaces here; the data that they store about people has a separate test. */
const PLANTED_ELSEWHERE: Readonly<Record<string, string>> = {
  llm: 'plugins/llm/bodies.test.ts',
  web: 'plugins/web/web.test.ts',
};

/** Requests the intent for members of servers, to receive joins. */
const watcher = definePlugin({
  manifest: { id: 'watcher', version: '1.0.0', description: 'Watches', intents: ['GuildMembers'] },
  setup: () => undefined,
});

describe('security: forget means gone', () => {
  it('covers every bundled plugin, or it declares that nothing it keeps is of people', async () => {
    const uncovered: string[] = [];
    for (const folder of await readdir(new URL('plugins/', ROOT))) {
      if (PLANTED.includes(folder)) continue;
      const elsewhere = PLANTED_ELSEWHERE[folder];
      if (elsewhere !== undefined && (await readFile(new URL(`test/${elsewhere}`, ROOT), 'utf8')).includes('forget'))
        continue;
      const { default: plugin }: { readonly default: Plugin } = await import(
        new URL(`plugins/${folder}/dist/index.js`, ROOT).href
      );
      const collections: readonly CollectionDefinition[] = Object.values(plugin.collections);
      const isOfNone = plugin.settings.user === undefined && plugin.settings.member === undefined;
      if (!isOfNone || collections.some(({ personal }) => personal !== 'none')) uncovered.push(folder);
    }
    expect(uncovered).to.deep.equal([]);
  });

  it('a member’s words are nowhere in the data folder any more, in what is kept for others neither, and the answer says what stays', async function () {
    this.timeout(60_000);
    let step: ModelStep | undefined;
    const llm = scriptedLlm(({ results, tools }) => {
      const next = step;
      step = undefined;
      if (next !== undefined) return next;
      // The persona requires a separate format.
      if (tools.length === 0) return say(JSON.stringify(PLAN));
      return say(results.length > 0 ? `It says ${results.length} things.` : 'Well.');
    });
    const settings = { accounts: { keepPrompts: true } };
    const host = await createTestHost({ plugins: [llm, watcher, ...PLANTED], settings, logFiles: true });
    try {
      const { alice, bob, you, general, guild, settled, application } = host;
      const { discord } = host;
      const parlour = guild.createChannel({ name: 'parlour' });
      guild.createRole({ name: 'Guest', position: 1 });
      for (const own of guild.roles.values()) if (own.botId !== undefined) guild.editRole(own, { position: 50 });
      await settled();
      // A channel without a responder, for texts of the staff about her: those are the staff's.
      const office = guild.createChannel({ name: 'office' });
      await settled();
      const tell = async (text: string) => {
        you.say(office, text);
        await settled();
      };
      you.say(parlour, '!ai use persona --here');
      you.say(general, '!set confirm require destructive');
      await settled();

      // Her texts to a chat, to a persona, in a name, in a direct message, in arguments, and in a personal setting.
      guild.rename(alice, `${MARK} queen`);
      alice.say(general, `!ai I play the ${MARK}`);
      await settled();
      alice.say(parlour, `!ai I love my ${MARK}`);
      await settled();
      alice.say(alice.openDm(application), `my secret ${MARK}`);
      await settled();
      step = callTool('add_party_character', { name: `${MARK} V`, role: 'Solo' });
      alice.say(general, `!ai Add ${MARK} V to my party`);
      await settled();
      // A reminder, and a command and an alias of the member.
      you.say(general, '!set custom creators everyone');
      await settled();
      alice.say(general, `!remind in 30d tune the ${MARK}`);
      alice.say(general, `!cc create orchestra ${MARK}s`);
      alice.say(general, `!alias add orch cc search ${MARK}`);
      await settled();
      // Records of moderators, filters and greeters about her; rules of the server and of the bot's owner; future roles.
      for (const line of [
        '!plugin enable automod',
        '!plugin enable welcome',
        '!plugin enable logging',
        '!set logging channel #general',
        `!warn ${alice} too much ${MARK}`,
        '!welcome channel #general',
        '!automod words add glockenspiel',
        '!automod actions words delete, warn, report',
        `!access deny party ${alice}`,
        `!access global deny plugin:tasks ${alice}`,
        `!access global allow plugin:chat ${alice}`,
        '!access clear party',
        '!access global clear plugin:tasks',
        `!access global deny plugin:nothing ${alice}`,
        '!autorole add Guest',
      ])
        await tell(line);
      const edited = alice.say(general, `what a ${MARK}`);
      await settled();
      alice.edit(edited, `what a great ${MARK}`);
      alice.say(general, `a ${MARK} is no glockenspiel`);
      const erin = discord.createUser({ name: 'erin' });
      guild.join(erin, { pending: true });
      await settled();
      const store = host.resolve(PersonalDataStore);
      expect(await store.export(erin.id)).to.have.property('roles');
      await store.forget(erin.id);
      expect(await store.export(erin.id)).to.not.have.property('roles');
      const exported = await store.export(alice.id);
      expect(JSON.stringify(exported))
        .to.include(`tune the ${MARK}`)
        .and.include(`${MARK}s`)
        .and.include(`cc search ${MARK}`)
        .and.include(`too much ${MARK}`);
      expect(exported).to.have.property('rules').with.property('everywhere');
      // A refused call, a waiting call, and a call with invalid arguments.
      const as = (user: typeof alice) => ({ userId: user.id, guildId: guild.id, channelId: general.id });
      const tools = host.resolve(Tools);
      const invoke = (user: typeof alice, name: string, input: unknown) =>
        tools.invoke({ name, arguments: input, actor: as(user), origin: 'test' });
      await invoke(alice, 'discord_send', { channelId: '1', message: `${MARK}!` });
      await invoke(alice, 'discord_delete_message', { channelId: general.id, messageId: '1', reason: MARK });
      await invoke(alice, 'discord_send', `not JSON: ${MARK}`);
      await settled();
      // Results of other members' reads of her messages.
      await invoke(bob, 'discord_read_messages', { channelId: general.id });
      await invoke(bob, 'discord_search_messages', { guildId: guild.id, content: MARK.slice(0, 4) });
      await invoke(bob, 'discord_get_member', { guildId: guild.id, userId: alice.id });
      step = callTool('discord_read_messages', { channelId: general.id });
      bob.say(general, '!ai What was said here?');
      await settled();
      // A task of hers, and one of another member that reads her messages and asks her.
      step = callTool('task_complete', { summary: `the ${MARK} is tuned` });
      await host.resolve(Tasks).start({ prompt: `tune the ${MARK}`, actor: as(alice), origin: 'test' });
      await settled();
      step = callTool('discord_read_messages', { channelId: general.id });
      const reading = await host.resolve(Tasks).start({ prompt: 'read the channel', actor: as(bob), origin: 'test' });
      await settled();
      await host.resolve(Tasks).stop(reading.id, as(bob));
      await host.advance(60_000);

      expect(await marked(host.dataDir, MARK), 'planted').to.have.length.above(5);
      // Her data in Discord itself is hers to delete.
      guild.rename(alice, null);
      await settled();
      alice.say(alice.openDm(application), '!mydata forget everything');
      await settled();
      await host.advance(2_000);
      const answer = alice.openDm(application).messages.at(-1)?.content;
      expect(answer)
        .to.match(/^Done\./)
        .and.include('What stays:')
        .and.include('without your words');
      expect(JSON.stringify(await host.resolve(PersonalDataStore).export(alice.id))).to.not.include(MARK);
      await discord.settled();
      await host.stop();
      expect(await marked(host.dataDir, MARK), 'left').to.deep.equal([]);
    } finally {
      await host[Symbol.asyncDispose]();
    }
  });
});

const PLAN = {
  reasoning: 'It seems right.',
  actions: [
    { action: 'ADD_MEMORY', context: '', result: { text: `Alice loves her ${MARK}.`, about: 'alice', importance: 8 } },
    { action: 'ADD_GOAL', context: '', result: { goal: `hear the ${MARK}` } },
    { action: 'UPDATE_MOOD', context: '', result: { mood: `${MARK}ish`, intensity: 5 } },
    { action: 'SPEAK', context: '', result: { message: `A ${MARK}, how nice.` } },
  ],
  can_extend: false,
};

/** Files below a folder that contain the word, with an excerpt of each. */
async function marked(folder: string, word: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = await readFile(path, 'utf8');
    const at = text.indexOf(word);
    if (at >= 0) found.push(`${path.slice(folder.length)}: ${text.slice(Math.max(0, at - 200), at + 60)}`);
  }
  return found;
}
