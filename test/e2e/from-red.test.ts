import { readFileSync } from 'node:fs';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';

const DOCUMENT = new URL('../../../docs/from-red.md', import.meta.url);

interface Line {
  readonly number: number;
  readonly title: string;
  readonly typed: readonly string[];
  readonly note: string;
}

const LINES: readonly Line[] = readFileSync(DOCUMENT, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number = '', title = '', , here = '', note = ''] = line.split('|').map((cell) => cell.trim());
    if (!/^\d+$/.test(number)) return [];
    return [{ number: Number(number), title, typed: [...here.matchAll(/`([^`]+)`/g)].flatMap(([, text]) => text ?? []), note }];
  });

describe('from Red', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({
      plugins: ['accounts', 'admin', 'llm', 'moderation', 'party', 'reminders', 'roles', 'welcome'],
      permissions: ['Administrator'],
    });
    host.guild.createChannel({ name: 'quiet' });
    for (const name of ['Fixers', 'Players']) host.guild.createRole({ name });
    await host.settled();
  });
  after(() => host[Symbol.asyncDispose]());
  for (const { number, title, typed } of LINES) {
    for (const text of typed)
      it(`${number} ${title}: ${text}`, async () => {
        const before = host.general.messages.length;
        host.you.say(host.general, text.replaceAll(/@(\w+)/g, (all, name: string) => {
          const role = [...host.guild.roles.values()].find((one) => one.name === name);
          const user = name === 'alice' ? host.alice : name === 'bob' ? host.bob : undefined;
          return role ? `<@&${role.id}>` : user ? `<@${user.id}>` : all;
        }));
        await host.settled();
        console.log(host.general.messages.slice(before).filter((m) => m.author.bot).map((m) => m.content).join('\n').slice(0, 300));
      });
  }
  it('x', () => expect(LINES).to.have.length(40));
});
