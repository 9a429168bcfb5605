import { createTestHost } from '@cinnabar/core/testing';
import { callTools, say, scriptedLlm } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { readLogs } from '../../support/log-files.js';

describe('chat: the log', () => {
  it('has a line for each activation, completion and tool call of an answer, with channel and message', async () => {
    const llm = scriptedLlm([callTools([{ name: 'find_tools', arguments: { query: 'party' } }]), say('Nothing.')]);
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
    const question = host.alice.say(host.general, '!ai What can you do?');
    await host.settled();
    const lines = (await readLogs(host)).filter(({ plugin, level }) => plugin === 'chat' && level === 'info');
    const about = lines.filter((line) => line.messageId === question.id && line.channelId === host.general.id);
    expect(about.map(({ message }) => message)).to.deep.equal(['activation', 'completion', 'tool call', 'completion']);
    expect(about[1]).to.include.keys('model', 'inputTokens', 'outputTokens', 'usd', 'ms');
  });
});
