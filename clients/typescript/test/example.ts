import { Inventory, Tackroom, TackroomError } from "tackroom-client";

await using tackroom = await Tackroom.spawn({ clientInfo: { name: "example" } });

for await (const entry of tackroom.list({ workspace: "/home/dev/demo" })) {
  console.log(entry.state, entry.title ?? entry.id);
  const { messages } = await tackroom.request("session/load", { id: entry.id, limit: 10 });
  for (const { role, content } of messages) {
    for (const block of content) if (block.type === "text") console.log(`  ${role}: ${block.text}`);
  }
}

const inventory = new Inventory();
for await (const event of await tackroom.watch()) {
  inventory.apply(event);
  if (inventory.isSynced) break; // or go on, and be told each change
}
console.log(`${inventory.entries.size} sessions`);

await tackroom.request("registry/describe", { id: "codex:gone" }).catch((error: unknown) => {
  if (error instanceof TackroomError && error.reason === "not_found") console.log("there is no such session");
  else throw error;
});
