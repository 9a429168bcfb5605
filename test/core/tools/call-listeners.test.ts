import { createMemoryDriver } from '@cinnabar/core/testing';
import type { SettledCall, ToolContent, ToolProgress } from '@cinnabar/sdk';
import { expect } from 'chai';
import { alice, countingIds, holdingInterceptor, openToolHarness, recordingTool } from './harness.js';

const request = {
  name: 'add_party_character',
  arguments: { name: 'V' },
  actor: alice,
  origin: 'test',
  messageId: '77',
} as const;

describe('a listener to tool calls', () => {
  it('is called for each one that has ended, before the caller gets the outcome', async () => {
    const { service, load } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    const heard: SettledCall[] = [];
    service.onSettled(async (call) => {
      await Promise.resolve();
      heard.push(call);
    });
    const outcome = await service.invoke(request);
    expect(heard).to.deep.equal([
      {
        id: outcome.callId,
        tool: 'add_party_character',
        input: { name: 'V', role: 'Solo' },
        actor: alice,
        origin: 'test',
        messageId: '77',
        outcome,
      },
    ]);
  });

  it('is called for a refused call, with the arguments as they were given', async () => {
    const { service } = openToolHarness();
    const heard: SettledCall[] = [];
    service.onSettled((call) => void heard.push(call));
    await service.invoke({ ...request, name: 'nothing', arguments: 'x' });
    expect(heard[0]).to.include({ tool: 'nothing', input: 'x' });
    expect(heard[0]?.outcome.status).to.equal('failed');
  });

  it('is called for a held call only once it is decided, and never after it was removed', async () => {
    const { service, load } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    const held = holdingInterceptor();
    service.intercept(load('confirm'), held.interceptor);
    const heard: string[] = [];
    const stop = service.onSettled(({ outcome }) => void heard.push(outcome.status));
    const outcome = await service.invoke(request);
    expect(heard).to.deep.equal([]);
    await held.calls[0]?.approve(alice.userId);
    held.goOn();
    if (outcome.status === 'deferred') await outcome.settled;
    expect(heard).to.deep.equal(['done']);
    stop();
    await service.invoke({ ...request, name: 'nothing' });
    expect(heard).to.deep.equal(['done']);
  });

  it('hears after a restart of what the process before could not tell: how it ended, or that this is not known', async () => {
    const driver = createMemoryDriver();
    const ids = countingIds();
    const before = openToolHarness({ driver, ids });
    const held = holdingInterceptor();
    const begun = new Promise<void>((resolve) => {
      const run = () => {
        resolve();
        return new Promise(() => undefined);
      };
      before.service.tool(before.load('party'), recordingTool([], { run }));
    });
    before.service.intercept(before.load('confirm'), held.interceptor);
    const waiting = await before.service.invoke(request);
    const running = await before.service.invoke(request);
    await held.calls[1]?.approve(alice.userId);
    held.goOn();
    await begun;

    const { service } = openToolHarness({ driver, ids });
    const heard: SettledCall[] = [];
    service.onSettled((call) => void heard.push(call));
    expect(await service.recover()).to.equal(2);
    expect(heard).to.deep.equal([]);
    await service.serve();
    await service.serve();
    expect(heard.map(({ id, messageId }) => [id, messageId])).to.have.deep.members([
      [waiting.callId, '77'],
      [running.callId, '77'],
    ]);
    const outcomeOf = ({ callId }: { callId: string }) => heard.find(({ id }) => id === callId)?.outcome;
    expect(outcomeOf(waiting)).to.have.property('status', 'expired');
    expect(outcomeOf(running)).to.have.nested.property('error.code', 'CINNABAR_TOOL_UNKNOWN_OUTCOME');
    expect(await openToolHarness({ driver, ids }).service.recover()).to.equal(0);
  });

  it('changes nothing by failing', async () => {
    const { service, load } = openToolHarness();
    service.tool(load('party'), recordingTool([]));
    service.onSettled(() => {
      throw new Error('no ink');
    });
    expect(await service.invoke(request)).to.have.property('status', 'done');
  });
});

describe('a tool under way', () => {
  it('reports its progress to the requester, and to no one after its end', async () => {
    const { service, load } = openToolHarness();
    let later: (progress: ToolProgress) => void = () => undefined;
    const run = (_: unknown, { progress }: { progress: (progress: ToolProgress) => void }) => {
      later = progress;
      progress({ progress: 1, total: 2 });
    };
    service.tool(load('party'), recordingTool([], { run }));
    const heard: ToolProgress[] = [];
    await service.invoke({ ...request, onProgress: (progress) => heard.push(progress) });
    later({ progress: 2, total: 2 });
    expect(heard).to.deep.equal([{ progress: 1, total: 2 }]);
    const throws = () => {
      throw new Error('not interested');
    };
    expect(await service.invoke({ ...request, onProgress: throws })).to.have.property('status', 'done');
  });

  it('can give more than text', async () => {
    const { service, load } = openToolHarness();
    const image: ToolContent = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    service.tool(load('party'), recordingTool([], { present: { success: () => 'a picture', content: () => [image] } }));
    expect(await service.invoke(request)).to.deep.include({ text: 'a picture', content: [image] });
  });
});
