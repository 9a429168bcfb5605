import { readFileSync } from 'node:fs';
import { type ToolInfo, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openToolsHarness } from './harness.js';

/** The part of a tool's row in the README that follows from its definition: name and arguments, risk, permissions. */
function rowOf({ name, risk, access, inputSchema }: ToolInfo): string {
  const required: unknown = inputSchema.required ?? [];
  const isRequired = (argument: string) => Array.isArray(required) && required.includes(argument);
  const { properties } = inputSchema;
  const declared = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const shown = declared.map((argument) => `${argument}${isRequired(argument) ? '' : '?'}`);
  const only = (permissions: readonly string[] = []) => permissions.filter((one) => one !== 'ViewChannel').join(', ');
  const [member, bot] = [only(access.member), only(access.bot)];
  const needed = member === bot ? member : `${member === '' ? '' : `${member}; `}the bot: ${bot}`;
  return `| \`${name}(${shown.join(', ')})\` | ${risk} | ${needed} |`;
}

describe('discord-tools: its README', () => {
  it('lists every tool as it is defined', async () => {
    await using harness = await openToolsHarness();
    const readme = readFileSync('plugins/discord-tools/README.md', 'utf8');
    const cells = (line: string) => line.split('|').map((cell) => cell.trim());
    const rows = readme
      .split('\n')
      .filter((line) => line.startsWith('| `discord_'))
      .map((line) => `| ${cells(line).slice(1, 4).join(' | ')} |`);
    const expected = harness.host.resolve(Tools).list().map(rowOf);
    expect(rows).to.deep.equal(expected);
  });

  it('describes every tool and every argument', async () => {
    await using harness = await openToolsHarness();
    for (const { name, description, inputSchema } of harness.host.resolve(Tools).list()) {
      expect(description, name).to.match(/^[A-Z].*\.$/);
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect(schema, `${name}: ${argument}`).to.have.property('description').that.is.a('string');
      }
    }
  });
});
