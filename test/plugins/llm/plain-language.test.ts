import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { Llm, type ModelTool, Plugins, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { readBy } from './offline-model.js';

/** The plugins that every server uses, with requests in members' and admins' own words. */
const EVERYDAY = ['moderation', 'automod', 'roles', 'custom', 'reminders', 'welcome', 'logging'] as const;

/** Example values of slots. */
const SAID: Readonly<Record<string, string>> = {
  about: 'call Bob',
  add: 'heck',
  channel: '#general',
  count: '5',
  drop: 'Chess',
  duration: '10 minutes',
  filter: 'mentions',
  get: 'Chess',
  interval: '10s',
  kind: 'edits',
  limit: '4',
  member: '@alice',
  menu: 'Games',
  name: 'rules',
  number: '3',
  on: 'on',
  reason: 'spam',
  remove: 'heck',
  role: 'Guest',
  roles: 'Chess, Go',
  text: 'Read the rules first',
  when: 'tomorrow at 18:00',
};

describe('llm offline: what the everyday plugins do, in plain language', () => {
  let host: TestHost;
  let tools: readonly ModelTool[] = [];
  before(async () => {
    host = await createTestHost({ plugins: ['llm', 'party', 'discord-tools', ...EVERYDAY] });
    for (const id of EVERYDAY) await host.resolve(Plugins).enable(host.guild.id, id);
    tools = await host
      .resolve(Tools)
      .offered({ userId: host.you.id, guildId: host.guild.id, channelId: host.general.id });
  });
  after(() => host[Symbol.asyncDispose]());

  it('understands every example of their tools, and takes it for no other tool', async () => {
    const llm = host.resolve(Llm);
    const declared = host.resolve(Tools).list();
    for (const plugin of EVERYDAY) {
      const own = declared.filter((tool) => tool.plugin === plugin).map(({ name }) => name);
      expect(own, plugin).not.to.deep.equal([]);
      const offered = tools.filter(({ name }) => own.includes(name));
      expect(offered.length, plugin).to.equal(own.length);
      const problems: string[] = [];
      for (const { name, examples = [] } of offered) {
        if (examples.length === 0) problems.push(`${name} has no example`);
        for (const example of examples) {
          const said = example.replace(/\{(\w+)\}/g, (_, slot: string) => SAID[slot] ?? `{${slot}}`);
          const { calls, text } = await readBy(llm, said, tools);
          const called = calls.map((call) => call.name).join();
          if (called !== name) problems.push(`${name}: “${said}” → ${called || text}`);
        }
      }
      expect(problems).to.deep.equal([]);
    }
  });
});
