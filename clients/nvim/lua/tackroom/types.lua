---@meta
-- What crosses the wire, as far as it is used here; `schema/schema.json` has all of it.

---@alias tackroom.State 'waiting'|'busy'|'idle'|'live'|'shutting_down'|'persisted'

---@class tackroom.Entry
---@field id string
---@field harness string
---@field sessionId string
---@field state tackroom.State
---@field workspace? string
---@field title? string
---@field model? string
---@field startedAtMs? integer
---@field updatedAtMs? integer
---@field archived? boolean
---@field parent? { sessionId?: string, relation: string }
---@field persistedId? string
---@field owner? { pid: integer, controller?: tackroom.Leaseholder }
---@field observers? { clientId: string }[]
---@field activity? { status?: string, waitingFor?: string }
---@field peer? { name: string }
---@field doors? ('runtime'|'peer')[]

---@class tackroom.Leaseholder
---@field clientId string

---@class tackroom.Lease
---@field controller? tackroom.Leaseholder
---@field observers { clientId: string }[]

---@class tackroom.Block
---@field type 'text'|'thinking'|'toolCall'|'toolResult'|'image'|'other'
---@field text? string
---@field name? string
---@field arguments? any
---@field content? tackroom.Block[]
---@field isError? boolean
---@field kind? string

---@class tackroom.Message
---@field role 'user'|'assistant'|'system'|'tool'
---@field timestampMs? integer
---@field model? string
---@field content tackroom.Block[]

---@class tackroom.RuntimeEvent
---@field sequence? integer
---@field kind string
---@field payload? any
---@field cursor? integer
---@field reason? string

---@class tackroom.Problem
---@field reason string
---@field message string

---@class tackroom.Error
---@field code integer
---@field message string
---@field data? { reason?: string, holder?: string, permission?: string }
