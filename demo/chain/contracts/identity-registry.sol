// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// A stand-in for the identity registry of ERC-8004, which no npm package ships, for a local chain only. It keeps the selectors,
// the events with their order, the checks and the meaning of what is stored of the deployed one (contract version 2.0.0), so
// that an indexer sees the same logs and may compare what it derived with the same view functions. Left out: the proxy, its
// owner and upgrades.

interface ERC1271 {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

interface ERC721Receiver {
    function onERC721Received(address operator, address from, uint256 tokenId, bytes calldata data) external returns (bytes4);
}

/// ERC-721 whose tokens have URIs (ERC-4906), as far as the identity registry needs it.
abstract contract AgentToken {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId);
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);
    event MetadataUpdate(uint256 _tokenId);

    error ERC721NonexistentToken(uint256 tokenId);
    error ERC721InvalidReceiver(address receiver);
    error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner);
    error ERC721InsufficientApproval(address operator, uint256 tokenId);
    error ERC721InvalidApprover(address approver);
    error ERC721InvalidOperator(address operator);

    string public constant name = "AgentIdentity";
    string public constant symbol = "AGENT";
    mapping(address owner => uint256 tokens) public balanceOf;
    mapping(address owner => mapping(address operator => bool given)) public isApprovedForAll;
    mapping(uint256 tokenId => address owner) internal owners;
    mapping(uint256 tokenId => address spender) private approvals;
    mapping(uint256 tokenId => string uri) private uris;

    /// Called before the owner of an existing token changes.
    function beforeMove(uint256 tokenId) internal virtual;

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5b5e139f || id == 0x49064906;
    }

    function ownerOf(uint256 tokenId) public view returns (address owner) {
        owner = owners[tokenId];
        if (owner == address(0)) revert ERC721NonexistentToken(tokenId);
    }

    function getApproved(uint256 tokenId) public view returns (address) {
        ownerOf(tokenId);
        return approvals[tokenId];
    }

    function tokenURI(uint256 tokenId) external view returns (string memory) {
        ownerOf(tokenId);
        return uris[tokenId];
    }

    function approve(address spender, uint256 tokenId) external {
        address owner = ownerOf(tokenId);
        if (msg.sender != owner && !isApprovedForAll[owner][msg.sender]) revert ERC721InvalidApprover(msg.sender);
        approvals[tokenId] = spender;
        emit Approval(owner, spender, tokenId);
    }

    function setApprovalForAll(address operator, bool given) external {
        if (operator == address(0)) revert ERC721InvalidOperator(operator);
        isApprovedForAll[msg.sender][operator] = given;
        emit ApprovalForAll(msg.sender, operator, given);
    }

    function transferFrom(address from, address to, uint256 tokenId) public {
        if (to == address(0)) revert ERC721InvalidReceiver(to);
        if (owners[tokenId] != address(0)) beforeMove(tokenId);
        address owner = ownerOf(tokenId);
        if (!maySpend(msg.sender, tokenId)) revert ERC721InsufficientApproval(msg.sender, tokenId);
        if (owner != from) revert ERC721IncorrectOwner(from, tokenId, owner);
        delete approvals[tokenId];
        balanceOf[from] -= 1;
        balanceOf[to] += 1;
        owners[tokenId] = to;
        emit Transfer(from, to, tokenId);
    }

    function safeTransferFrom(address from, address to, uint256 tokenId) external {
        safeTransferFrom(from, to, tokenId, "");
    }

    function safeTransferFrom(address from, address to, uint256 tokenId, bytes memory data) public {
        transferFrom(from, to, tokenId);
        requireReceiver(from, to, tokenId, data);
    }

    function maySpend(address spender, uint256 tokenId) internal view returns (bool) {
        address owner = ownerOf(tokenId);
        return spender == owner || isApprovedForAll[owner][spender] || approvals[tokenId] == spender;
    }

    /// A receiving contract is called before the caller goes on: it may already move the token away again.
    function safeMint(address to, uint256 tokenId) internal {
        balanceOf[to] += 1;
        owners[tokenId] = to;
        emit Transfer(address(0), to, tokenId);
        requireReceiver(address(0), to, tokenId, "");
    }

    function setUri(uint256 tokenId, string memory uri) internal {
        uris[tokenId] = uri;
        emit MetadataUpdate(tokenId);
    }

    function requireReceiver(address from, address to, uint256 tokenId, bytes memory data) private {
        if (to.code.length == 0) return;
        bytes4 answer = ERC721Receiver(to).onERC721Received(msg.sender, from, tokenId, data);
        if (answer != ERC721Receiver.onERC721Received.selector) revert ERC721InvalidReceiver(to);
    }
}

contract IdentityRegistryDouble is AgentToken {
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue);
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant WALLET_TYPE =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
    string private constant WALLET_KEY = "agentWallet";
    uint256 private constant DEADLINE_AHEAD_MAX = 5 minutes;

    uint256 private nextId;
    mapping(uint256 agentId => mapping(string key => bytes value)) private metadataOf;

    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return maySpend(spender, agentId);
    }

    function register() external returns (uint256 agentId) {
        agentId = mint();
        announce(agentId, "");
    }

    function register(string memory agentURI) public returns (uint256 agentId) {
        agentId = mint();
        setUri(agentId, agentURI);
        announce(agentId, agentURI);
    }

    function register(string memory agentURI, MetadataEntry[] memory metadata) external returns (uint256 agentId) {
        agentId = register(agentURI);
        for (uint256 i = 0; i < metadata.length; i++) writeMetadata(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
    }

    function setAgentURI(uint256 agentId, string calldata newURI) external {
        requireAuthorized(agentId);
        setUri(agentId, newURI);
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    function setMetadata(uint256 agentId, string memory metadataKey, bytes memory metadataValue) external {
        requireAuthorized(agentId);
        writeMetadata(agentId, metadataKey, metadataValue);
    }

    function getMetadata(uint256 agentId, string memory metadataKey) external view returns (bytes memory) {
        return metadataOf[agentId][metadataKey];
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        return address(bytes20(metadataOf[agentId][WALLET_KEY]));
    }

    /// The new wallet signs that it wants to be one (EIP-712); a contract says so by EIP-1271.
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature) external {
        requireAuthorized(agentId);
        require(newWallet != address(0), "bad wallet");
        require(block.timestamp <= deadline, "expired");
        require(deadline <= block.timestamp + DEADLINE_AHEAD_MAX, "deadline too far");
        bytes32 structHash = keccak256(abi.encode(WALLET_TYPE, agentId, newWallet, ownerOf(agentId), deadline));
        requireConsent(newWallet, keccak256(abi.encodePacked(hex"1901", domainSeparator(), structHash)), signature);
        writeWallet(agentId, abi.encodePacked(newWallet));
    }

    function unsetAgentWallet(uint256 agentId) external {
        requireAuthorized(agentId);
        writeWallet(agentId, "");
    }

    /// A wallet was proved to the old owner; the new one starts without.
    function beforeMove(uint256 agentId) internal override {
        writeWallet(agentId, "");
    }

    /// The wallet is stored before the token exists and announced after it: what a receiving contract does in between wins.
    function mint() private returns (uint256 agentId) {
        agentId = nextId++;
        metadataOf[agentId][WALLET_KEY] = abi.encodePacked(msg.sender);
        safeMint(msg.sender, agentId);
    }

    function announce(uint256 agentId, string memory agentURI) private {
        emit Registered(agentId, agentURI, msg.sender);
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, abi.encodePacked(msg.sender));
    }

    function writeWallet(uint256 agentId, bytes memory value) private {
        metadataOf[agentId][WALLET_KEY] = value;
        emit MetadataSet(agentId, WALLET_KEY, WALLET_KEY, value);
    }

    function writeMetadata(uint256 agentId, string memory key, bytes memory value) private {
        require(keccak256(bytes(key)) != keccak256(bytes(WALLET_KEY)), "reserved key");
        metadataOf[agentId][key] = value;
        emit MetadataSet(agentId, key, key, value);
    }

    function requireAuthorized(uint256 agentId) private view {
        require(maySpend(msg.sender, agentId), "Not authorized");
    }

    function domainSeparator() private view returns (bytes32) {
        bytes32 domainName = keccak256("ERC8004IdentityRegistry");
        return keccak256(abi.encode(DOMAIN_TYPE, domainName, keccak256("1"), block.chainid, address(this)));
    }

    function requireConsent(address wallet, bytes32 digest, bytes calldata signature) private view {
        if (signature.length == 65) {
            address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
            if (signer == wallet) return;
        }
        require(wallet.code.length > 0, "invalid wallet sig");
        require(ERC1271(wallet).isValidSignature(digest, signature) == 0x1626ba7e, "invalid wallet sig");
    }
}

/// A smart-contract owner that passes every agent it registers on at once, from within the mint.
contract HastyOwner {
    address private constant RECIPIENT = 0x000000000000000000000000000000000000bEEF;

    function registerAndPass(IdentityRegistryDouble registry, string calldata agentURI) external returns (uint256) {
        return registry.register(agentURI);
    }

    function onERC721Received(address, address, uint256 tokenId, bytes calldata) external returns (bytes4) {
        IdentityRegistryDouble(msg.sender).transferFrom(address(this), RECIPIENT, tokenId);
        return this.onERC721Received.selector;
    }
}
