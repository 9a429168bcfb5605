import { open } from 'node:fs/promises';
import sinon from 'sinon';

/** The prototype of all open files. */
async function fileHandles(): Promise<{ datasync(): Promise<void>; sync(): Promise<void> }> {
  const handle = await open('.');
  await handle.close();
  return Object.getPrototypeOf(handle);
}

/** Makes syncs of folders fail until it is disposed; files can still be synced. */
export async function withoutFolderSync(error: Error): Promise<Disposable> {
  const stub = sinon.stub(await fileHandles(), 'sync').rejects(error);
  return { [Symbol.dispose]: () => stub.restore() };
}

/** Counts synced files and folders until it is disposed. */
export async function countSyncs(): Promise<Disposable & { readonly files: number; readonly folders: number }> {
  const handles = await fileHandles();
  const files = sinon.spy(handles, 'datasync');
  const folders = sinon.spy(handles, 'sync');
  return {
    get files() {
      return files.callCount;
    },
    get folders() {
      return folders.callCount;
    },
    [Symbol.dispose]() {
      files.restore();
      folders.restore();
    },
  };
}
