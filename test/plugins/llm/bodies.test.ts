import { createTestHost } from '@cinnabar/core/testing';
import { fail, hang, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { Llm, PersonalDataStore, SettingsCatalog } from '@cinnabar/sdk';
import { expect } from 'chai';
import { readLogs } from '../../support/log-files.js';
import { ask, from } from './harness.js';

const KEY = 'sk-secret-key-of-the-owner';

describe('llm: the bodies of requests', () => {
  it('are kept if the owner enables it, the last 20, without secrets, until a member deletes their data; trace logs them all', async () => {
    await using api = await startOpenAiStandIn({ key: KEY, script: () => say('Hello from afar') });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: api.baseUrl, OPENAI_MODEL: 'far-1' };
    await using host = await createTestHost({ plugins: ['llm'], env, logLevel: 'trace', logFiles: true });
    const [llm, catalog] = [host.resolve(Llm), host.resolve(SettingsCatalog)];
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const requests = async () => {
      host.you.say(host.general, '!llm requests');
      await host.settled();
      const answer = host.general.messages.at(-1);
      expect(answer?.attachments).to.deep.equal([]);
      if (answer?.content.startsWith('I have sent it to you in a direct message') !== true)
        return answer?.content ?? '';
      const [file] = host.you.openDm(host.application).messages.at(-1)?.attachments ?? [];
      return Buffer.from(file?.data ?? []).toString();
    };
    const complete = (text: string) => llm.complete(ask([from('Alice', text)]));

    await complete(`before, with ${KEY}`);
    expect(await requests()).to.match(/^No bodies are kept/);
    host.alice.say(host.general, '!llm requests');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/^You may not do that/);

    await catalog.set('llm', 'keepBodies', 'true', actor);
    for (let serial = 0; serial < 21; serial += 1) await complete(`word ${serial}. My key is ${KEY}`);
    const kept = await requests();
    expect(kept.match(/^# /gm)).to.have.length(20);
    expect(kept).to.include('word 20.').and.include('word 1.').and.include('Hello from afar');
    expect(kept).to.not.include('word 0.').and.not.include(KEY);

    await host.resolve(PersonalDataStore).forget(host.alice.id);
    expect(await requests()).to.match(/^No request has been made/);

    await complete(`after, with ${KEY}`);
    const traces = (await readLogs(host)).filter(({ level }) => level === 'trace');
    expect(traces).to.have.length(46);
    expect(JSON.stringify(traces.slice(0, 44)))
      .to.not.include('My key is')
      .and.not.include('before, with');
    expect(JSON.stringify(traces.at(-2))).to.include('after, with [redacted]');
    expect(JSON.stringify(traces)).to.include('Hello from afar').and.not.include(KEY);
  });

  it('are not kept or logged of a request that was under way when a person was forgotten, however often it is repeated', async () => {
    const steps = [hang(fail(503)), say('Alice lives in Kiel'), say('Hello from afar')];
    await using api = await startOpenAiStandIn({ key: KEY, steps });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: api.baseUrl, OPENAI_MODEL: 'far-1' };
    const settings = { llm: { keepBodies: true, retryDelayMs: 0 } };
    await using host = await createTestHost({ plugins: ['llm'], env, settings, logLevel: 'trace', logFiles: true });
    const llm = host.resolve(Llm);
    const completion = llm.complete(ask([from('Alice', 'I live in Kiel')]));
    await api.hanging();
    await host.resolve(PersonalDataStore).forget(host.alice.id);
    api.release();
    await host.settled();
    await host.advance(1_000);
    await completion;
    host.you.say(host.general, '!llm requests');
    await host.settled();
    expect(host.general.messages.at(-1)?.content).to.match(/^No request has been made/);
    await llm.complete(ask([from('Bob', 'I live in Lima')]));

    const traces = (await readLogs(host)).filter(({ level }) => level === 'trace');
    expect(traces).to.have.length(3);
    expect(JSON.stringify(traces.slice(1)))
      .to.include('Lima')
      .and.not.include('Kiel');
  });

  it('are not created without a reader', async () => {
    await using api = await startOpenAiStandIn({ key: KEY, script: () => say('Hello from afar') });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: api.baseUrl, OPENAI_MODEL: 'far-1' };
    await using host = await createTestHost({ plugins: ['llm'], env, logFiles: true });
    await host.resolve(Llm).complete(ask([from('Alice', 'a word of Alice')]));
    expect(JSON.stringify(await readLogs(host))).to.not.include('a word of Alice');
  });
});
