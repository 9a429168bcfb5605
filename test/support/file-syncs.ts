import { open } from 'node:fs/promises';
import sinon from 'sinon';

/** What all open files share. */
async function fileHandles(): Promise<{ datasync(): Promise<void>; sync(): Promise<void> }> {
  const handle = await open('.');
  await handle.close();
  return Object.getPrototypeOf(handle);
}

/** While it is used, no folder can be synced: files can. */
export async function withoutFolderSync(error: Error): Promise<Disposable> {
  const stub = sinon.stub(await fileHandles(), 'sync').rejects(error);
  return { [Symbol.dispose]: () => stub.restore() };
}

/** Counts the files and the folders that are synced while it is used. */
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
